package lightcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// Kind is the kind of backend, the first label of its block.
const Kind = "lightcp"

// Server implements backend.JudgeServer.
type Server struct{ client *Client }

// NewServer returns the server that a client talks to.
func NewServer(c *Client) *Server { return &Server{c} }

// Identity implements backend.JudgeServer. Only the location of a server is known.
func (s *Server) Identity(context.Context) (backend.Identity, error) {
	return backend.Identity{{Label: "kind", Value: Kind}, {Label: "endpoint", Value: s.client.endpoint}}, nil
}

// Name implements backend.JudgeServer.
func (s *Server) Name() string { return s.client.endpoint }

// Grade implements backend.JudgeServer.
func (s *Server) Grade(ctx context.Context, sub backend.Submission) (*backend.Grade, error) {
	r, err := s.client.Judge(ctx, Submission{Problem: sub.Problem, Language: sub.Language, Code: sub.Code})
	if err != nil {
		return nil, err
	}
	if r.Status == Failed {
		why, rejected := rejection(r.Error)
		if !rejected {
			return nil, s.client.trouble(fmt.Errorf("it could not judge the submission: %s", beginning([]byte(r.Error))))
		}
		return &backend.Grade{Rejected: why}, nil
	}
	g := &backend.Grade{Score: r.Score, ScoreUnbounded: r.ScoreUnbounded}
	for _, c := range r.Cases {
		g.Cases = append(g.Cases, backend.GradedCase{
			Ratio: c.Ratio, RatioUnbounded: c.RatioUnbounded, Message: c.Message, Silent: c.Silent(),
			Clock: time.Duration(c.Time), Memory: c.Memory,
		})
	}
	return g, nil
}

// rejection returns the compiler's message if an error of the server is about the submission. Its other
// errors are about the problem or the server itself: a checker that does not compile, missing test data. So
// is an error that only names how the sandbox stopped the compiler: the limits are tight, and a busy machine
// is enough to exceed them.
func rejection(text string) (why string, rejected bool) {
	why, found := strings.CutPrefix(text, "Error: compile failed: ")
	if !found {
		return "", false
	}
	return why, !slices.Contains(stopReasons, strings.TrimSpace(why))
}

// stopReasons are go-judge's words for how a program ended.
var stopReasons = []string{
	"", "Time Limit Exceeded", "Memory Limit Exceeded", "Output Limit Exceeded", "File Error",
	"Nonzero Exit Status", "Signalled", "Dangerous Syscall", "Judgement Failed", "Invalid Interaction", "Internal Error",
}
