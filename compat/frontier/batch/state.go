package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// State is the content of .state.<track>.json, the file in which a batch keeps its results.
type State struct {
	StartedAt, UpdatedAt string
	Total                int    // pairs requested from the batch
	Backend              string // "docker", "skypilot"
	Results              []Result
}

// DecodeState reads a state file. Anything but a whole state is an error with
// its place: batches take a damaged file for an empty one.
func DecodeState(text []byte) (*State, error) {
	var raw struct {
		StartedAt *string         `json:"started_at"`
		UpdatedAt *string         `json:"updated_at"`
		Total     int             `json:"total_pairs"`
		Backend   string          `json:"backend"`
		Results   json.RawMessage `json:"results"`
	}
	quoted := pyjson.Quote(text)
	if err := json.Unmarshal(quoted, &raw); err != nil {
		return nil, located(quoted, err)
	}
	if raw.Results == nil {
		return nil, errors.New(`it has no "results", so it is not a state of a batch`)
	}
	s := &State{StartedAt: deref(raw.StartedAt), UpdatedAt: deref(raw.UpdatedAt), Total: raw.Total, Backend: raw.Backend}
	d := json.NewDecoder(bytes.NewReader(raw.Results))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New(`its "results" are not an object`)
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf(`reading its "results": %w`, err)
		}
		id, _ := t.(string)
		var value stateResult
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("the result of %q: %w", id, err)
		}
		r, err := value.result(id)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			return nil, fmt.Errorf("the pair %q is duplicated", id)
		}
		seen[id] = true
		s.Results = append(s.Results, r)
	}
	return s, nil
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

// located adds to an error of encoding/json where it is in the text.
func located(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		offset = int64(len(text))
	}
	if offset < 0 {
		return err
	}
	read := bytes.TrimRight(text[:min(int(offset), len(text))], " \t\r\n") // what is cut off ends with its last word
	line := 1 + bytes.Count(read, []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
