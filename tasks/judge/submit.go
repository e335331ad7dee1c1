package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// The outputs of Submit.
const (
	OutputGrade = "grade" // always: a Grade
	// OutputMeasure contains a list of Measure for the cases.
)

// Grade is the content of OutputGrade: the result of a judge server.
type Grade struct {
	Rejected       string    `json:"rejected,omitempty"` // why it was not run; the other fields are then empty
	Score          *float64  `json:"score"`
	ScoreUnbounded *float64  `json:"score_unbounded"`
	Cases          []Verdict `json:"cases"`
}

// Server grades whole submissions.
type Server struct {
	backend.JudgeServer
	Ident func(context.Context) (backend.Identity, error) // of JudgeServer, cached by the caller
}

// Submit is the task that submits a solution to a judge server. The server has its own copy of the
// problem's files; the local files represent them in the key.
type Submit struct {
	Problem  string // its name on the server
	Language Language
	Cases    []time.Duration // limits of processor time for each case
	Repeat   int             // from 1; enters keys if above 1
	Server   *Server
	Source   *tasks.Files // a file
	Files    *tasks.Files // of the problem
}

// Describe implements graph.Task.
func (s *Submit) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String("problem", s.Problem)
	m.String("language", s.Language.Name)
	for i, limit := range s.Cases {
		m.String(fmt.Sprintf("time of case %d", i+1), limit.String())
	}
	if s.Repeat > 1 {
		m.Int("repeat", int64(s.Repeat))
	}
	if err := session.DescribeBackend(ctx, m, s.Server.Ident); err != nil {
		return err
	}
	if err := s.Source.Describe(ctx, m); err != nil {
		return err
	}
	return s.Files.Describe(ctx, m)
}

const (
	// maxSubmitted is the limit of servers, in bytes.
	maxSubmitted = 5 << 20
	// maxAgain limits how often a submission is repeated until two results agree.
	maxAgain = 4
)

// Run implements graph.Task.
func (s *Submit) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if o, refused, err := s.Source.Refusal(ctx, w.Store); refused {
		return o, err
	}
	g, err := s.grade(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	said := Grade{Rejected: readable([]byte(g.Rejected)), Score: g.Score, ScoreUnbounded: g.ScoreUnbounded, Cases: []Verdict{}}
	measures := []Measure{}
	for _, c := range g.Cases {
		said.Cases = append(said.Cases, verdictOf(c))
		measures = append(measures, Measure{ClockMS: milliseconds(c.Clock), MemoryBytes: c.Memory})
	}
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	if g.Rejected != "" {
		k.Outcome.Message = "does not compile"
	}
	k.JSON(OutputGrade, said)
	k.JSON(OutputMeasure, measures)
	return k.Outcome, k.Err
}

func (s *Submit) grade(ctx context.Context, w *graph.Work) (*backend.Grade, error) {
	files, err := s.Source.Put(ctx, w)
	if err != nil {
		return nil, err
	}
	code := files[0].Digest
	if code.Size > maxSubmitted {
		return &backend.Grade{Rejected: fmt.Sprintf("the source has %d bytes; a judge server takes %d", code.Size, maxSubmitted)}, nil
	}
	content, err := cache.ReadBlob(ctx, w.Store, code, maxSubmitted)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	if strings.TrimSpace(string(content)) == "" {
		return &backend.Grade{Rejected: "the source is empty"}, nil
	}
	return s.submitSettled(ctx, w, backend.Submission{Problem: s.Problem, Language: s.Language.Name, Code: content})
}

// submitSettled submits the solution, usually once. A server reports its own failure like a program that ended
// without output, so a result with such a case must be confirmed by a second one.
func (s *Submit) submitSettled(ctx context.Context, w *graph.Work, sub backend.Submission) (*backend.Grade, error) {
	var all []*backend.Grade
	for len(all) < maxAgain {
		g, err := s.Server.Grade(ctx, sub)
		if err != nil {
			return nil, err
		}
		if g.Rejected != "" {
			return g, nil
		}
		if len(g.Cases) != len(s.Cases) {
			return nil, fmt.Errorf("the server judged %d cases of problem %q, but the problem here has %d: its copy differs", len(g.Cases), s.Problem, len(s.Cases))
		}
		if !s.doubtful(g) || slices.ContainsFunc(all, func(before *backend.Grade) bool { return sameGrade(before, g) }) {
			return g, nil
		}
		fmt.Fprintln(w.Log, "a case earned nothing, without a message and before its time limit; submitting again")
		all = append(all, g)
	}
	return nil, errors.New("no two results of the server agree, and each has a case that earned nothing without a message")
}

// doubtful reports whether a case might have failed because of the server: without a message, and before the
// program's time limit.
func (s *Submit) doubtful(g *backend.Grade) bool {
	for i, c := range g.Cases {
		if c.Silent && c.Clock < s.Cases[i] {
			return true
		}
	}
	return false
}

func sameGrade(a, b *backend.Grade) bool {
	return slices.EqualFunc(a.Cases, b.Cases, func(x, y backend.GradedCase) bool {
		return sameNumber(x.Ratio, y.Ratio) && sameNumber(x.RatioUnbounded, y.RatioUnbounded)
	})
}

func sameNumber(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// verdictOf converts a server's result for a case to a verdict. Servers do not report exceeded limits, so
// a score of 0 is a wrong answer.
func verdictOf(c backend.GradedCase) Verdict {
	v := Verdict{Verdict: Points, Ratio: c.Ratio, RatioUnbounded: c.RatioUnbounded, Message: readable([]byte(c.Message))}
	switch {
	case c.Ratio == nil || *c.Ratio == 0:
		v.Verdict = WrongAnswer
	case *c.Ratio == 1:
		v.Verdict = Accepted
	}
	return v
}
