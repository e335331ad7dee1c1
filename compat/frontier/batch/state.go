package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// State is the content of .state.<track>.json, the file in which a batch keeps its results.
type State struct{ Results []Result }

// DecodeState reads a state file. Anything but a whole state is an error with its location: batches take a damaged file
// for an empty one.
func DecodeState(text []byte) (*State, error) {
	s, seen := &State{}, map[string]bool{}
	found := false
	r := pyjson.NewReader(bytes.NewReader(text), pyjson.Options{Exact: true})
	result := func(id string) error {
		var value stateResult
		if err := r.Value(&value); err != nil {
			return err
		}
		one, err := value.result(id)
		if err == nil && seen[id] {
			err = errors.New("the pair is duplicated")
		}
		seen[id] = true
		s.Results = append(s.Results, one)
		return err
	}
	err := r.Only(func() error {
		return r.Object(func(key string) error {
			if key != "results" {
				return r.Skip()
			}
			found = true
			return r.Object(result)
		})
	})
	if err == nil && !found {
		err = errors.New(`it has no "results", so it is not a state of a batch`)
	}
	return s, err
}

// stateResult is a result as a state has it.
type stateResult struct {
	Score        number   `json:"score"`
	Unbounded    number   `json:"score_unbounded"`
	Status       *Status  `json:"status"`
	Message      *string  `json:"message"`
	Seconds      *float64 `json:"duration_seconds"`
	Timestamp    *string  `json:"timestamp"`
	SolutionHash *string  `json:"solution_hash"`
	ProblemHash  *string  `json:"problem_hash"`
}

func (v stateResult) result(id string) (Result, error) {
	pair, err := ParsePair(id)
	if err != nil {
		return Result{}, err
	}
	r := Result{
		Pair: pair, Score: v.Score.value, Unbounded: v.Unbounded.value, Status: Pending, Message: deref(v.Message),
		Timestamp: deref(v.Timestamp), SolutionHash: deref(v.SolutionHash), ProblemHash: deref(v.ProblemHash),
	}
	if v.Status != nil {
		r.Status = *v.Status
	}
	if v.Seconds != nil {
		r.Seconds = *v.Seconds
	}
	return r, nil
}

// number is a number of Python's JSON, or null.
type number struct{ value *float64 }

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	digits := string(text)
	var s string
	if json.Unmarshal(text, &s) == nil {
		word, ok := pyjson.Word(s)
		if !ok {
			return fmt.Errorf("the score is %s, which is not a number", text)
		}
		digits = word
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("the score is %s, which is not a number", text)
	}
	n.value = &f
	return nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
