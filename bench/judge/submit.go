package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend/lightcp"
)

// languages maps extensions of solutions to languages.
var languages = []struct{ extension, name string }{{".cpp", "cpp"}, {".cc", "cpp"}, {".py", "python"}}

// saved is the file that submit writes and compare reads.
type saved struct {
	Server      string       `json:"server"`
	Submissions []submission `json:"submissions"`
}

type submission struct {
	Problem  string    `json:"problem"`
	Solution string    `json:"solution"`
	Attempts []attempt `json:"attempts"`
}

// attempt is an attempt to judge a submission.
type attempt struct {
	Seconds float64         `json:"seconds"` // until the result was available
	Result  *lightcp.Result `json:"result"`
}

func (s *saved) find(problem, solution string) *submission {
	i := slices.IndexFunc(s.Submissions, func(x submission) bool { return x.Problem == problem && x.Solution == solution })
	if i < 0 {
		return nil
	}
	return &s.Submissions[i]
}

// add records another attempt at a submission and returns the submission.
func (s *saved) add(problem, solution string, a attempt) *submission {
	if s.find(problem, solution) == nil {
		s.Submissions = append(s.Submissions, submission{Problem: problem, Solution: solution})
	}
	x := s.find(problem, solution)
	x.Attempts = append(x.Attempts, a)
	return x
}

func readSaved(path string) (*saved, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &s, nil
}

// write replaces the file atomically.
func (s *saved) write(path string) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// submitter submits solutions.
type submitter struct {
	server, solutions, save string
	problems, models        string
	attempts                int
	again                   bool
	timeout                 time.Duration
}

func (s *submitter) flags(f *flag.FlagSet) {
	f.StringVar(&s.server, "server", "", "URL of the judge server")
	f.StringVar(&s.solutions, "solutions", "", "directory of <problem>/<model>.<ext>")
	f.StringVar(&s.problems, "problems", "", "problems, with commas")
	f.StringVar(&s.models, "models", "", "models, with commas")
	f.StringVar(&s.save, "save", "", "file for the results")
	f.IntVar(&s.attempts, "attempts", 3, "how often a submission is handed in at most")
	f.BoolVar(&s.again, "again", false, "hand in so often whatever is said")
	f.DurationVar(&s.timeout, "timeout", time.Hour, "how long to wait for one result")
}

func (s *submitter) incomplete() bool {
	return s.server == "" || s.solutions == "" || s.problems == "" || s.models == "" || s.save == "" || s.attempts < 1
}

func (s *submitter) run(ctx context.Context, out io.Writer) error {
	client, err := lightcp.New(s.server, s.timeout)
	if err != nil {
		return err
	}
	file, err := readSaved(s.save)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = &saved{Server: s.server}, nil
	}
	if err != nil {
		return err
	}
	var failed error
	for _, problem := range strings.Split(s.problems, ",") {
		for _, model := range strings.Split(s.models, ",") {
			for !file.find(problem, model).settled(s.attempts, s.again) {
				a, err := s.judge(ctx, client, problem, model)
				if err != nil {
					fmt.Fprintf(out, "%s %s: %v\n", problem, model, err)
					failed = errors.Join(failed, err)
					break
				}
				done := file.add(problem, model, *a)
				if err := file.write(s.save); err != nil {
					return err
				}
				fmt.Fprintf(out, "%s %s: %s\n", problem, model, done.describe())
			}
			if ctx.Err() != nil {
				return failed
			}
		}
	}
	return failed
}

// settled reports whether a submission, which can be nil, needs no other attempt: there were enough, or it was
// judged, every case has a message, and again is not set.
func (s *submission) settled(attempts int, again bool) bool {
	if s == nil {
		return false
	}
	last := s.Attempts[len(s.Attempts)-1].Result
	return len(s.Attempts) >= attempts || !again && last.Judged() && !slices.ContainsFunc(last.Cases, func(c lightcp.Case) bool { return c.Silent() })
}

// judge submits a solution.
func (s *submitter) judge(ctx context.Context, client *lightcp.Client, problem, model string) (*attempt, error) {
	path, language, err := s.source(problem, model)
	if err != nil {
		return nil, err
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	result, err := client.Judge(ctx, lightcp.Submission{Problem: problem, Language: language, Code: code})
	if err != nil {
		return nil, err
	}
	return &attempt{Seconds: time.Since(began).Seconds(), Result: result}, nil
}

func (s *submitter) source(problem, model string) (path, language string, err error) {
	for _, l := range languages {
		path := filepath.Join(s.solutions, problem, model+l.extension)
		if _, err := os.Stat(path); err == nil {
			return path, l.name, nil
		}
	}
	return "", "", fmt.Errorf("%s has no solution %s of %s", s.solutions, model, problem)
}

// judged returns the attempts that the server judged, or all if there are none.
func (s *submission) judged() []attempt {
	judged := slices.DeleteFunc(slices.Clone(s.Attempts), func(a attempt) bool { return !a.Result.Judged() })
	if len(judged) == 0 {
		return s.Attempts
	}
	return judged
}

func (s *submission) describe() string {
	last := s.Attempts[len(s.Attempts)-1]
	text := "error: " + firstLine(last.Result.Error)
	if last.Result.Status == lightcp.Done {
		text = "score " + number(last.Result.Score)
	}
	return fmt.Sprintf("%s, %.1f s, attempt %d", text, last.Seconds, len(s.Attempts))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// number formats all digits of a number; "none" if JSON lacks it.
func number(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprint(*x)
}
