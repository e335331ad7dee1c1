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
	decoder := json.NewDecoder(bytes.NewReader(quoteNonFinite(text)))
	decoder.UseNumber()
	start, err := decoder.Token()
	if err == nil && start != json.Delim('{') {
		return nil, fmt.Errorf("expected an object of numbers, got %s", kindOf(start))
	}
	rewards, numbers := map[string]any{}, 0
	for err == nil && decoder.More() {
		var key json.Token
		var value any
		if key, err = decoder.Token(); err != nil {
			break
		}
		if err = decoder.Decode(&value); err != nil {
			break
		}
		name, _ := key.(string)
		if _, twice := rewards[name]; twice && name == score {
			return nil, fmt.Errorf("the verifier writes %q twice; write each key once", name)
		}
		reward, wrong := rewardOf(value)
		if wrong != nil && name == score {
			return nil, fmt.Errorf("%q%w", name, wrong)
		}
		if wrong == nil {
			numbers++
		}
		rewards[name] = reward
	}
	if err == nil {
		_, err = decoder.Token() // the end of the object
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected data after its object")
	}
	if numbers == 0 {
		return nil, errors.New("it has no numbers")
	}
	return rewards, nil
}

// rewardOf returns a value as a reward and, if it is neither a finite number nor a bool, a
// text to show and an error that follows the value's name.
func rewardOf(value any) (any, error) {
	switch value := value.(type) {
	case bool:
		return value, nil
	case json.Number:
		n, err := number(value.String())
		if err != nil {
			return abbreviate(value.String()), fmt.Errorf(": %w", err)
		}
		return n, nil
	case string:
		if word, ok := strings.CutPrefix(value, nonFinite); ok {
			return abbreviate(word), fmt.Errorf(": %q is not a finite number", abbreviate(word))
		}
	}
	return kindOf(value), fmt.Errorf(" is %s, not a number", kindOf(value))
}

// nonFinite is the prefix of strings that replace the non-finite numbers of Python's JSON.
const nonFinite = "\x00"

var (
	pythonWord    = lazyregexp.New(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)
	nonFiniteJSON = `"\u0000`
)

// quoteNonFinite replaces numbers that Python writes but JSON lacks by strings.
func quoteNonFinite(text []byte) []byte {
	return pythonWord().ReplaceAllFunc(text, func(word []byte) []byte {
		if word[0] == '"' {
			return word
		}
		return []byte(nonFiniteJSON + string(word) + `"`)
	})
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a bool"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any, json.Delim:
		return "a list"
	}
	return "an object"
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
