package verifier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// The files that a reward may stand in; the first that is there counts.
const (
	rewardJSON = "reward.json"
	rewardText = "reward.txt"

	maxReward = 1 << 20 // bytes
)

// readRewards returns what a script left: a float64 for each name, or a bool. An error says
// why there is nothing.
func readRewards(l left) (map[string]any, error) {
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
		rewards, err := decode(text)
		if err != nil {
			return nil, Unusable.errorf("%s: %w", name, err)
		}
		return rewards, nil
	}
	return nil, Missing.errorf("there is neither %s nor %s", rewardJSON, rewardText)
}

// Numbers are the rewards of a Run, with bools as Python counts them.
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

// pythonFloat is what Python's float takes, but for what is not finite, and for digits of
// other scripts.
var pythonFloat = lazyregexp.New(`^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?$`)

func number(text string) (float64, error) {
	shown := text
	if len(shown) > 40 {
		shown = shown[:40] + "..."
	}
	if !pythonFloat().MatchString(text) {
		return 0, fmt.Errorf("%q is no finite number", shown)
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q is no finite number", shown)
	}
	return n, nil
}

// decode reads a flat object of numbers and bools. The latter are shown, and are no score.
func decode(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var all map[string]any
	if err := decoder.Decode(&all); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("it is a %s and no object of numbers", wrong.Value)
		}
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its object")
	}
	rewards := map[string]any{}
	for name, value := range all {
		if truth, ok := value.(bool); ok {
			rewards[name] = truth
			continue
		}
		written, ok := value.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%q is %s and no number", name, kindOf(value))
		}
		n, err := number(written.String())
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		rewards[name] = n
	}
	if len(rewards) == 0 {
		return nil, errors.New("it has no numbers")
	}
	return rewards, nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}

// Rule recognises, by what a script wrote beside its reward, that its machine failed.
type Rule struct {
	File, Pointer string
	Values        []string
	Pattern       string
}

func (r Rule) text() string {
	encoded, err := json.Marshal(r)
	if err != nil {
		return err.Error() // strings can be encoded
	}
	return string(encoded)
}

// broken says what a script wrote of its machine; "" is nothing.
func (r Rule) broken(l left) string {
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

// lookUp returns what is at a pointer, a string as it is and all else as JSON.
func lookUp(text []byte, pointer string) (string, bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", false
	}
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch at := value.(type) {
		case map[string]any:
			found, ok := at[token]
			if !ok {
				return "", false
			}
			value = found
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return "", false
			}
			value = at[i]
		default:
			return "", false
		}
	}
	if s, ok := value.(string); ok {
		return s, true
	}
	encoded, err := json.Marshal(value)
	return string(encoded), err == nil
}
