package gen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/gen/answer"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Outputs of the nodes.
const (
	promptOutput = "prompt" // the text
	answerOutput = "answer" // the text
	usageOutput  = "usage"  // record of the end and usage of an answer
	treeOutput   = "tree"   // the files
)

// The names that dependencies have.
const (
	fromPrompt = "prompt"
	fromAnswer = "answer"
	fromBefore = "before" // the files of the checkpoint before
)

// maxSpec and maxPrompt bound the bytes of a task text and of a prompt.
const (
	maxSpec   = 4 << 20
	maxPrompt = 32 << 20
)

// prompting is the task that makes a prompt.
type prompting struct {
	g       *Generator
	problem *lang.Problem
	check   *lang.Checkpoint
	attempt int
	later   bool // a checkpoint precedes it

	spec string // set by Describe
}

// Describe implements graph.Task.
func (p *prompting) Describe(_ context.Context, m *graph.Manifest) error {
	spec, err := readSpec(p.check.Spec)
	if err == nil && spec == "" && p.g.Template == nil && p.problem.Description == "" {
		err = &graph.InputError{Err: fmt.Errorf("%s has no task text: write spec = \"task.md\" there, or a prompt in %s", p.problem.Ref, p.g.Ref)}
	}
	if err != nil {
		return err
	}
	p.spec = spec
	in := p.input("")
	m.Int("recipe", 1)
	m.String("template", p.g.PromptSource())
	m.Digest("spec", cache.SumBytes([]byte(in.Spec)))
	for _, f := range []Field{{"problem", in.Problem}, {"title", in.Title}, {"description", in.Description}, {"checkpoint", in.Checkpoint}, {"entry", in.Entry}, {"file", in.File}} {
		m.String(f.Label, f.Value)
	}
	m.Int("attempt", int64(in.Attempt))
	return nil
}

// Predict implements graph.Predictor: without code of before, the prompt is known.
func (p *prompting) Predict() ([]cache.Output, error) {
	if p.later {
		return nil, errors.New("it depends on an answer")
	}
	text, err := p.text("")
	return []cache.Output{{Name: promptOutput, Digest: cache.SumBytes([]byte(text))}}, err
}

// Run implements graph.Task.
func (p *prompting) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	code := ""
	if p.later {
		files, err := filesOf(ctx, w, fromBefore)
		if err != nil {
			return graph.Outcome{}, err
		}
		code = fenceCode(files)
	}
	text, err := p.text(code)
	if err != nil {
		return graph.Outcome{}, err
	}
	d, err := cache.PutBytes(ctx, w.Store, []byte(text))
	return graph.Outcome{Outputs: []cache.Output{{Name: promptOutput, Digest: d}}}, err
}

func (p *prompting) input(code string) lang.PromptInput {
	return lang.PromptInput{Problem: p.problem.Name, Title: p.problem.Title, Description: p.problem.Description, Checkpoint: p.check.Name, Spec: p.spec,
		Entry: p.problem.Entry, File: unnamed(p.g.Generator, p.problem), Code: code, Attempt: p.attempt}
}

// text returns the prompt.
func (p *prompting) text(code string) (text string, err error) {
	in := p.input(code)
	if p.g.Template == nil {
		text = defaultPrompt(in)
	} else if text, err = p.g.Prompt(in); err != nil {
		return "", &graph.InputError{Err: err}
	}
	switch {
	case strings.TrimSpace(text) == "":
		err = &graph.InputError{Err: fmt.Errorf("the prompt of %s for %s is empty", p.g.Ref, p.problem.Ref)}
	case len(text) > maxPrompt:
		err = &graph.InputError{Err: fmt.Errorf("the prompt of %s for %s has %d bytes, more than %d", p.g.Ref, p.problem.Ref, len(text), maxPrompt)}
	}
	return text, err
}

// readSpec reads a task text, and returns "" without one.
func readSpec(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", &graph.InputError{Err: fmt.Errorf("reading the spec: %w", err)}
	case !info.Mode().IsRegular():
		return "", &graph.InputError{Err: fmt.Errorf("the spec %s is not a regular file", path)}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", &graph.InputError{Err: fmt.Errorf("reading the spec: %w", err)}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSpec+1))
	switch {
	case err != nil:
		return "", &graph.InputError{Err: fmt.Errorf("reading the spec: %w", err)}
	case len(text) > maxSpec:
		return "", &graph.InputError{Err: fmt.Errorf("the spec %s has more than %d bytes", path, maxSpec)}
	case !utf8.Valid(text):
		return "", &graph.InputError{Err: fmt.Errorf("the spec %s is not UTF-8 text", path)}
	}
	return string(text), nil
}

// fenceCode returns code as blocks that the parser of answers would read as the same files.
func fenceCode(files []answer.File) string {
	var b strings.Builder
	for _, f := range files {
		if !utf8.ValidString(f.Content) {
			fmt.Fprintf(&b, "%s: %d bytes that are no text\n\n", f.Path, len(f.Content))
			continue
		}
		fence := strings.Repeat("`", max(3, 1+text.Backquotes(f.Content)))
		fmt.Fprintf(&b, "%sfile=%q\n%s", fence, f.Path, f.Content)
		if !strings.HasSuffix(f.Content, "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n\n", fence)
	}
	return strings.TrimSpace(b.String())
}

// defaultPrompt returns the prompt of a generator without a prompt expression.
func defaultPrompt(in lang.PromptInput) string {
	var b strings.Builder
	b.WriteString("Write a solution of the task below.\n\n")
	example := in.File
	if example == "" {
		example = "path/of/the.file"
	}
	fmt.Fprintf(&b, "Answer with the complete content of each file, in a fenced block of code that begins with the path of the file, like this:\n\n```%s\n...\n```\n\n", example)
	if in.Code != "" {
		b.WriteString("The code so far follows the task. Change it so that it also does what the task asks for. Files that you leave out stay as they are.\n\n")
	}
	if in.Entry != "" {
		fmt.Fprintf(&b, "The solution is started by this command, in the directory of its files, with arguments behind it: %s\n\n", in.Entry)
	}
	b.WriteString("# Task\n\n")
	for _, text := range []string{in.Title, in.Description, in.Spec} {
		if text = strings.TrimSpace(text); text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	if in.Code != "" {
		b.WriteString("# The code so far\n\n" + in.Code + "\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}
