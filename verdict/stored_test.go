package verdict

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The bytes themselves are held by TestStoredFormIsFrozen in package tasks.
func TestStoredCheckpointReadsBack(t *testing.T) {
	half, code := 0.5, 1
	for _, c := range []Checkpoint{
		{Tests: []Test{}},
		{
			Name: "checkpoint_1", Passed: true, Policy: "core-cases", Vacuous: true, Class: Judged, ExitCode: &code, Collected: 2,
			InfrastructureFailure: true, Groups: GroupCounts{Core: {1, 2}, Functionality: {}, Regression: {}, ErrorGroup: {}},
			Tests: []Test{{"a", "f.py", "checkpoint_1", Core, TestPassed, "", nil, nil}, {"b", "f.py", "checkpoint_0", Regression, TestFailed, "WA", &half, &half}},
		},
		{Class: Judged, Score: NewScore(99.5, math.Inf(1)), Tests: []Test{}},
	} {
		blob, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		var back Checkpoint
		if err := json.Unmarshal(blob, &back); err != nil {
			t.Fatal(err)
		}
		if c.Groups == nil {
			c.Groups = NoTestCounts() // the form cannot express another value
		}
		if diff := cmp.Diff(c, back); diff != "" {
			t.Error(diff)
		}
	}
}

// Decoded values encode to a form that decodes to the same.
func FuzzStoredCheckpoint(f *testing.F) {
	f.Add([]byte(`{"name":"a","class":"judged","score_text":"nan","groups":{"core":{"passed":1,"total":2}},"tests":[{"id":"t","ratio":0.5}]}`))
	f.Add([]byte(`{"tests":null,"groups":null}`))
	f.Fuzz(func(t *testing.T, blob []byte) {
		var c Checkpoint
		if json.Unmarshal(blob, &c) != nil {
			return
		}
		first, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		var back Checkpoint
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatal(err)
		}
		second, err := json.Marshal(&back)
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Errorf("changed on the way:\n%s\n%s", first, second)
		}
	})
}
