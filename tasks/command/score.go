package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// From is the name of Score's dependency, a Run.
const From = "command"

// Outputs returns the outputs of a Run that Score reads.
func Outputs() []string {
	return []string{OutputExit, OutputTiming, OutputStdout, OutputStderr, OutputFile, OutputSetup}
}

// Score is the task that reads the score from the outputs of a Run. Its outputs are those of
// tasks.PutGraded.
type Score struct {
	Rule   score.Rule
	Policy verdict.Rule
}

// Describe implements graph.Task.
func (s *Score) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 3)   // 3: the stored form omits empty fields
	if !s.Rule.AnyExit { // for compatibility with earlier keys
		m.String("exit status", "success")
	}
	m.String("from", s.Rule.From)
	m.String("pattern", s.Rule.Pattern)
	m.String("marker", s.Rule.Marker)
	m.String("pointer", s.Rule.Pointer)
	m.String("pointer_unbounded", s.Rule.PointerUnbounded)
	m.String("compat", s.Rule.Compat)
	m.String("pass", s.Policy.Text())
	return nil
}

// Run implements graph.Task.
func (s *Score) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	left, err := readLeft(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	if left.exit.Rewritten != "" {
		return s.Refused(ctx, w, left.exit.Rewritten+", code of the problem, was rewritten while the program ran")
	}
	c, message := s.grade(left)
	if err := tasks.Grade(c, s.Policy); err != nil {
		return graph.Outcome{}, err
	}
	return tasks.PutGraded(ctx, w.Store, c, &verdict.Measurements{
		DurationMS: left.timing.Seconds * 1000, Message: message, Isolation: left.timing.Isolation, Import: left.timing.Import, Tests: []verdict.TestMeasurement{},
	})
}

// Refused implements graph.Refuser.
func (s *Score) Refused(ctx context.Context, w *graph.Work, why string) (graph.Outcome, error) {
	return tasks.PutRefused(ctx, w.Store, "", s.Policy, why)
}

// grade returns the checkpoint, not yet graded by a policy, and a line for users. A reached limit
// outweighs a printed score, and so does a failure of the program unless the rule accepts any exit.
func (s *Score) grade(l runOutput) (*verdict.Checkpoint, string) {
	c := &verdict.Checkpoint{Class: verdict.Judged, ExitCode: &l.exit.Code, Tests: []verdict.Test{}}
	dialect := s.Rule.Dialect
	switch {
	case l.exit.Setup != "":
		c.Class = verdict.NoScore
		return c, l.setupFailed()
	case l.exit.TimedOut:
		c.Class = verdict.SessionTimeout
		return c, limitMessage(time.Duration(l.exit.Limit * float64(time.Second)))
	case dialect != nil && dialect.TimedOut(l.exit.Code):
		c.Class = verdict.SessionTimeout
		return c, fmt.Sprintf("the program's exit code %d reports that it exceeded its own time limit", l.exit.Code)
	}
	found, err := s.Rule.Read(score.Artifacts{
		Stdout: l.stdout, Stderr: l.stderr, File: l.file, NoFile: l.exit.NoFile, Code: l.exit.Code, Signal: l.exit.Signal,
	})
	if err != nil {
		c.Class = verdict.NoScore
		if dialect != nil {
			return c, dialect.Reason(l.stdout, l.stderr)
		}
		return c, l.withoutScore(err.Error())
	}
	if !s.Rule.AnyExit && (l.exit.Code != 0 || l.exit.Signal != "") {
		c.Class = verdict.NoScore
		return c, fmt.Sprintf("the program failed (%s), so its score does not count", l.end())
	}
	c.Score = verdict.NewScore(found.Bounded, found.Unbounded)
	switch {
	case c.Score.BoundedText != "":
		return c, "the score is " + c.Score.BoundedText + ", which is not a valid score"
	case c.Score.UnboundedText != "":
		return c, "the unbounded score is " + c.Score.UnboundedText + ", which is not a valid score"
	}
	return c, ""
}

// runOutput is the output of a Run.
type runOutput struct {
	exit                        Exit
	timing                      session.Timing
	stdout, stderr, file, setup []byte
}

func readLeft(ctx context.Context, w *graph.Work) (runOutput, error) {
	var l runOutput
	read := func(name string) ([]byte, error) {
		d, ok := w.Input(From, name)
		if !ok {
			return nil, nil
		}
		content, err := cache.ReadBlob(ctx, w.Store, d, -1)
		if err != nil {
			return nil, fmt.Errorf("reading the %s: %w", name, err)
		}
		if content == nil {
			content = []byte{} // exists and is empty
		}
		return content, nil
	}
	for _, part := range []struct {
		name string
		into *[]byte
		json any
	}{{OutputExit, nil, &l.exit}, {OutputTiming, nil, &l.timing}, {OutputStdout, &l.stdout, nil}, {OutputStderr, &l.stderr, nil}, {OutputFile, &l.file, nil}, {OutputSetup, &l.setup, nil}} {
		content, err := read(part.name)
		if err != nil {
			return l, err
		}
		if part.into != nil {
			*part.into = content
		} else if err := json.Unmarshal(content, part.json); err != nil {
			return l, fmt.Errorf("decoding the %s: %w", part.name, err)
		}
	}
	return l, nil
}

// withoutScore explains a missing score: the reason, the program's exit if it failed, and the most informative
// line of its output.
func (l runOutput) withoutScore(reason string) string {
	if end := l.end(); end != "" {
		reason += " (" + end + ")"
	}
	if line := score.Telling(l.stdout, l.stderr); line != "" {
		reason += ": " + line
	}
	return reason
}

func (l runOutput) end() string {
	var words []string
	switch {
	case l.exit.Signal != "":
		words = append(words, l.exit.Signal)
	case l.exit.Code != 0:
		words = append(words, fmt.Sprintf("exit code %d", l.exit.Code))
	}
	if l.exit.MemoryLimit > 0 {
		words = append(words, session.OutOfMemory(l.exit.MemoryLimit))
	}
	return strings.Join(words, ", ")
}

func (l runOutput) setupFailed() string {
	said := fmt.Sprintf("set-up command %q ended with %s", l.exit.Setup, l.end())
	if l.exit.TimedOut {
		said = fmt.Sprintf("set-up command %q exceeded the limit of %v", l.exit.Setup, time.Duration(l.exit.Limit*float64(time.Second)))
	}
	// The command's output is between its line and the line about its end.
	text := string(l.setup)
	if at := strings.LastIndex(text, "$ "+l.exit.Setup+"\n"); at >= 0 {
		text = text[at+len(l.exit.Setup)+len("$ \n"):]
	}
	text = text[:max(0, strings.LastIndex(text, "[exit"))]
	if line := score.Telling(nil, []byte(text)); line != "" {
		said += ": " + line
	}
	return said
}
