package verifier

import "fmt"

// NoReward is a kind of invalid reward, used as Fault of the broken node.
type NoReward string

// The kinds of invalid rewards.
const (
	Missing  NoReward = "missing reward" // the file is missing
	Empty    NoReward = "empty reward"   // the file is empty
	Unusable NoReward = "unusable reward"
)

// rewardError is a graph.Faulty.
type rewardError struct {
	kind NoReward
	err  error
}

func (e *rewardError) Error() string { return string(e.kind) + ": " + e.err.Error() }
func (e *rewardError) Unwrap() error { return e.err }
func (e *rewardError) Fault() string { return string(e.kind) }

func (k NoReward) errorf(format string, args ...any) error {
	return &rewardError{k, fmt.Errorf(format, args...)}
}
