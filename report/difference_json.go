package report

import "strings"

// judgedAgain encodes an Again as JSON.
type judgedAgain struct {
	Checkpoints int      `json:"checkpoints"`
	Cause       string   `json:"cause"`
	Causes      []string `json:"causes"`
}

// change encodes a Change as JSON.
type change struct {
	Kind       ChangeKind `json:"kind"`
	Problem    string     `json:"problem"`
	Checkpoint string     `json:"checkpoint,omitempty"`
	Solution   string     `json:"solution"`
	Backend    string     `json:"backend"`
	Repeat     int        `json:"repeat"`
	Task       string     `json:"task,omitempty"` // of a task, which is in no cell
	Before     string     `json:"before,omitempty"`
	After      string     `json:"after,omitempty"`
	Cause      string     `json:"cause,omitempty"`
	Causes     []string   `json:"causes,omitempty"`
	TestsLost  []string   `json:"tests_lost,omitempty"`
	TestsWon   []string   `json:"tests_won,omitempty"`
	FirstTest  *Test      `json:"first_test,omitempty"`
}

// DifferenceObject encodes a Difference as JSON.
type DifferenceObject struct {
	Schema      int                `json:"schema"`
	Before      string             `json:"before"`
	After       string             `json:"after"`
	Same        int                `json:"same"`
	NotAsked    int                `json:"not_asked"`
	Differs     []string           `json:"differs,omitempty"` // labels of two files of other programs: "model: a -> b"
	Counts      map[ChangeKind]int `json:"counts"`
	Changes     []change           `json:"changes"`
	Causes      []CauseCount       `json:"causes"`
	Metrics     []MetricChange     `json:"metrics"`
	JudgedAgain []judgedAgain      `json:"judged_again"`
}

// Object returns d in its JSON form.
func (d *Difference) Object() *DifferenceObject {
	counts := map[ChangeKind]int{}
	changes := []change{}
	for i := range d.Changes {
		c := &d.Changes[i]
		checkpoint := c.Is
		if checkpoint == nil {
			checkpoint = c.Was
		}
		counts[c.Kind]++
		task := ""
		if c.Task != nil {
			task = c.Task.Name
		}
		changes = append(changes, change{Kind: c.Kind, Problem: c.Cell.Problem, Checkpoint: checkpoint.Name, Solution: c.Cell.Solution, Backend: c.Cell.Backend,
			Repeat: c.Cell.Repeat, Task: task, Before: c.Before, After: c.After, Cause: c.Cause(), Causes: c.Causes, TestsLost: testNames(c.TestsLost), TestsWon: testNames(c.TestsWon), FirstTest: c.FirstFailure()})
	}
	again := []judgedAgain{}
	for _, a := range d.Again {
		again = append(again, judgedAgain{Checkpoints: a.Checkpoints, Cause: strings.Join(a.Causes, ", "), Causes: a.Causes})
	}
	causes, metrics := d.Causes(), d.Metrics
	if causes == nil {
		causes = []CauseCount{}
	}
	if metrics == nil {
		metrics = []MetricChange{}
	}
	return &DifferenceObject{Schema: Schema, Before: d.Before, After: d.After, Same: d.Same, NotAsked: d.NotAsked, Differs: d.Differs, Counts: counts, Changes: changes, Causes: causes, Metrics: metrics, JudgedAgain: again}
}

func testNames(tests []Test) (names []string) {
	for i := range tests {
		names = append(names, tests[i].name())
	}
	return names
}
