package verifier

import (
	"fmt"
	"strings"
)

// NoReward is a kind of reward that is none. It begins the message of the node that is broken
// for it.
type NoReward string

// The kinds of rewards that are none.
const (
	Missing  NoReward = "missing reward: " // there is no file
	Empty    NoReward = "empty reward: "   // the file is empty
	Unusable NoReward = "unusable reward: "
)

// NoRewardIn is the kind in the message of a broken node; "" when it broke for something else.
func NoRewardIn(message string) NoReward {
	for _, kind := range []NoReward{Missing, Empty, Unusable} {
		if strings.HasPrefix(message, string(kind)) {
			return kind
		}
	}
	return ""
}

func (k NoReward) errorf(format string, args ...any) error {
	return fmt.Errorf(string(k)+format, args...)
}
