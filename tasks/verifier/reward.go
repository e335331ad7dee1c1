package verifier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// Files with rewards; the first existing one counts.
const (
	rewardJSON = "reward.json"
	rewardText = "reward.txt"

	maxReward = 1 << 20 // bytes
)

// readRewards returns the rewards that a script left by name: a float64, a bool, or an unusable
// value as text. The value of the score must be a float64 or a bool, or missing.
func readRewards(l scriptFiles, score string) (map[string]any, error) {
	for _, name := range []string{rewardJSON, rewardText} {
		text, ok := l.files[name]
		switch {
		case l.large[name] || len(text) > maxReward:
			return nil, Unusable.errorf("%s is larger than %d bytes", name, maxReward)
		case !ok:
			continue
		case len(bytes.TrimSpace(text)) == 0:
			return nil, Empty.errorf("%s", name)
		case name == rewardText:
			n, err := number(strings.TrimSpace(string(text)))
			if err != nil {
				return nil, Unusable.errorf("%s: %w", name, err)
			}
			return map[string]any{"reward": n}, nil
		}
		rewards, err := decode(text, score)
		if err != nil {
			return nil, Unusable.errorf("%s: %w", name, err)
		}
		return rewards, nil
	}
	return nil, Missing.errorf("neither %s nor %s found", rewardJSON, rewardText)
}

// Numbers returns the rewards of a Run, with bools as Python counts them.
func Numbers(rewards map[string]any) map[string]float64 {
	all := map[string]float64{}
	for name, value := range rewards {
		switch value := value.(type) {
		case float64:
			all[name] = value
		case bool:
			all[name] = 0
			if value {
				all[name] = 1
			}
		}
	}
	return all
}

// pythonFloat matches what Python's float accepts, except for values that are not finite, and for digits of
// other scripts.
var pythonFloat = lazyregexp.New(`^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?$`)

func number(text string) (float64, error) {
	shown := abbreviate(text)
	if !pythonFloat().MatchString(text) {
		return 0, fmt.Errorf("%q is not a finite number", shown)
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q is not a finite number", shown)
	}
	return n, nil
}

func abbreviate(text string) string {
	if len(text) > 40 {
		return text[:40] + "..."
	}
	return text
}

// decode reads a flat object of numbers and bools. Bools, and values that are not finite numbers, are
// shown, but cannot be the score.
func decode(text []byte, score string) (map[string]any, error) {
	rewards, numbers := map[string]any{}, 0
	r := pyjson.NewReader(bytes.NewReader(text), pyjson.Options{Exact: true})
	err := r.Only(func() error {
		return r.Object(func(name string) error {
			var value any
			if err := r.Value(&value); err != nil {
				return err
			}
			if _, twice := rewards[name]; twice && name == score {
				return errors.New("the key is duplicated; write it once")
			}
			reward, err := rewardOf(value)
			if err == nil {
				numbers++
			} else if name == score {
				return err
			}
			rewards[name] = reward
			return nil
		})
	})
	if err == nil && numbers == 0 {
		err = errors.New("it has no numbers")
	}
	return rewards, err
}

// rewardOf returns a value as a reward or, if it is neither a finite number nor a bool, a text to show and an error.
func rewardOf(value any) (any, error) {
	switch value := value.(type) {
	case bool:
		return value, nil
	case json.Number:
		n, err := number(value.String())
		if err != nil {
			return abbreviate(value.String()), err
		}
		return n, nil
	case string:
		if word, ok := pyjson.Word(value); ok {
			return word, fmt.Errorf("%q is not a finite number", word)
		}
	}
	return pyjson.Kind(value), fmt.Errorf("want a number, not %s", pyjson.Kind(value))
}

// Rule detects a failed machine from files that a script wrote besides its reward.
type Rule struct {
	File, Pointer string
	Values        []string
	Pattern       string
}

func (r Rule) text() string {
	encoded, err := json.Marshal(r)
	if err != nil {
		return err.Error() // strings always encode
	}
	return string(encoded)
}

// brokenText returns the script's text about its failed machine, or "".
func (r Rule) brokenText(l scriptFiles) string {
	text, ok := l.files[r.File]
	if !ok {
		return ""
	}
	where := r.File
	value := strings.TrimSpace(string(text))
	if r.Pointer != "" {
		where += r.Pointer
		if value, ok = lookUp(text, r.Pointer); !ok {
			return ""
		}
	}
	if len(r.Values) > 0 {
		if slices.Contains(r.Values, value) {
			return where + " is " + value
		}
		return ""
	}
	if pattern, err := regexp.Compile(r.Pattern); err == nil {
		if found := pattern.FindString(value); found != "" {
			return fmt.Sprintf("%s has %q", where, found)
		}
	}
	return ""
}

// lookUp returns the value at a pointer: a string unchanged, and other values as JSON.
func lookUp(text []byte, pointer string) (string, bool) {
	var root any
	r := pyjson.NewReader(bytes.NewReader(text), pyjson.Options{Exact: true})
	if r.Value(&root) != nil {
		return "", false
	}
	value, missing := pyjson.At(root, pointer)
	if s, ok := value.(string); ok {
		return s, true
	}
	encoded, err := json.Marshal(value)
	return string(encoded), err == nil && missing == ""
}
