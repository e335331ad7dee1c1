// Package release classifies recorded answers when a set of problems gets another version: verdicts that hold,
// answers to grade again, and problems to solve again. It compares what it is handed, by
// content, and neither loads nor runs anything: eval compiles both versions.
package release

import (
	"path"
	"slices"
	"strings"
)

// Class classifies a new version of a problem by its effect on answers to the old one, from least to most.
type Class string

const (
	Reuse   Class = "reuse"   // no verdict depends on what changed
	Regrade Class = "regrade" // only what grades changed
	Rerun   Class = "rerun"   // solvers see something else
	Added   Class = "added"   // without answers
	Removed Class = "removed"
)

var order = []Class{Reuse, Regrade, Rerun, Added, Removed}

// Worse returns the one of two classes that takes more.
func Worse(a, b Class) Class {
	if slices.Index(order, a) < slices.Index(order, b) {
		return b
	}
	return a
}

// OfWhole returns what the class of a checkpoint means for its problem.
func (c Class) OfWhole() Class {
	switch c {
	case Added:
		return Rerun
	case Removed:
		return Regrade
	}
	return c
}

// Release compares two versions of a set of problems.
type Release struct {
	Schema   int       `json:"schema"`
	Old      string    `json:"old"` // as the caller names them
	New      string    `json:"new"`
	Work     []Work    `json:"work"` // by class
	Problems []Problem `json:"problems"`
	Trials   []Trial   `json:"trials"` // recorded for the old version
	// Tags are the images of problems that need not be solved again, if a tag names them. No record has their digests,
	// so a tag that moved is not detected.
	Tags []string `json:"tags,omitempty"`
	// Unloadable are problems that neither version can load, whose files alone were compared.
	Unloadable []string `json:"unloadable,omitempty"`
	// Versioned is whether any problem has a version. Otherwise no version is wrong.
	Versioned bool `json:"versioned"`
	// Graded is set once trials were graded again. Ungraded counts trials that got no score then.
	Graded   bool    `json:"graded"`
	Ungraded int     `json:"ungraded,omitempty"`
	Board    []Entry `json:"board,omitempty"` // the best after it first
	Moved    []Moved `json:"moved,omitempty"` // the cause of most first
}

// Problem is a problem in both versions, or in one.
type Problem struct {
	Name        string       `json:"name"`
	Class       Class        `json:"class"` // the worst of its checkpoints
	Checkpoints []Checkpoint `json:"checkpoints"`
	Version     Version      `json:"version"`
}

// Checkpoint is a checkpoint of a problem; of a problem without checkpoints, or that cannot be compiled, the problem.
type Checkpoint struct {
	Name   string  `json:"name"`
	Class  Class   `json:"class"`
	Reason *Reason `json:"reason,omitempty"` // nil if nothing changed that counts
}

// Cause returns the change of the first checkpoint that is of the problem's class; "" without one.
func (p *Problem) Cause() string {
	for _, c := range p.Checkpoints {
		if c.Class.OfWhole() == p.Class && c.Reason != nil {
			return c.Reason.String()
		}
	}
	return ""
}

// Reason is the change that decides about a class.
type Reason struct {
	File string `json:"file,omitempty"` // relative to the set; "" if no file decides
	What string `json:"what"`           // "changed", "memory: 1 -> 2"
	More int    `json:"more,omitempty"` // changes beside this one
}

// String returns the file and what changed.
func (r *Reason) String() string {
	base := path.Base(r.File)
	switch {
	case strings.HasPrefix(r.What, base+" "): // a setting is named after its file
		return strings.TrimSuffix(r.File, base) + r.What
	case r.File == "":
		return r.What
	case strings.HasPrefix(r.What, "it ") || strings.HasPrefix(r.What, "the "): // a sentence about more than the file
		return r.File + ": " + r.What
	}
	return r.File + " " + r.What
}

// Trial is a recorded solution.
type Trial struct {
	Name    string   `json:"name"`
	Problem string   `json:"problem"`
	Agent   string   `json:"agent,omitempty"`
	Model   string   `json:"model,omitempty"`
	Class   Class    `json:"class"`
	Why     string   `json:"why,omitempty"`   // if that is not for the problem's class
	Cost    *float64 `json:"cost_usd"`        // null is not known
	Before  *float64 `json:"before"`          // the recorded score
	After   *float64 `json:"after"`           // for the new version; null unless it holds or was graded again
	Cause   string   `json:"cause,omitempty"` // of another score: the change that decides
}

// Entry is a row of the leaderboards before and after a release, over the trials that have a score on both.
type Entry struct {
	Agent      string   `json:"agent"`
	Model      string   `json:"model"`
	Trials     int      `json:"trials"`
	Before     float64  `json:"before"` // means over problems
	After      float64  `json:"after"`
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low"` // of the 95 % interval of Difference, paired by problem; null if there are too few
	High       *float64 `json:"high"`
	Again      int      `json:"again"` // trials that must run again
}

// Moved counts the trials with another score for a cause.
type Moved struct {
	Cause  string `json:"cause"`
	Lower  int    `json:"lost"`
	Higher int    `json:"won"`
}

// Work sums up a class.
type Work struct {
	Class    Class   `json:"class"`
	Problems int     `json:"problems"`
	Trials   int     `json:"trials"`
	Cost     float64 `json:"cost_usd"`      // of these trials, where it is known
	Unknown  int     `json:"unknown_costs"` // trials
}

// New returns a release of problems and trials.
func New(old, new string, problems []Problem, trials []Trial) *Release {
	r := &Release{Schema: 1, Old: old, New: new, Problems: append([]Problem{}, problems...), Trials: append([]Trial{}, trials...)}
	for _, class := range order {
		r.Work = append(r.Work, Work{Class: class})
	}
	for i := range problems {
		r.Of(problems[i].Class).Problems++
		r.Versioned = r.Versioned || problems[i].Version.Old+problems[i].Version.New != ""
	}
	for i := range r.Problems {
		r.Problems[i].Checkpoints = append([]Checkpoint{}, r.Problems[i].Checkpoints...)
		if !r.Versioned {
			r.Problems[i].Version.Wrong = ""
		}
	}
	for _, t := range trials {
		w := r.Of(t.Class)
		w.Trials++
		if t.Cost != nil {
			w.Cost += *t.Cost
		} else {
			w.Unknown++
		}
	}
	return r
}

// Of returns the sum of a class.
func (r *Release) Of(c Class) *Work { return &r.Work[slices.Index(order, c)] }

// Wrong counts the problems whose versions do not say what changed.
func (r *Release) Wrong() (n int) {
	for i := range r.Problems {
		if r.Problems[i].Version.Wrong != "" {
			n++
		}
	}
	return n
}
