package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// The outputs of Compile and Tool.
const (
	OutputDiagnosis = "diagnosis" // of Compile, always: a Diagnosis
	OutputProgram   = "program"   // a blob; missing if compiling failed
)

// Diagnosis is the content of OutputDiagnosis.
type Diagnosis struct {
	OK   bool   `json:"ok"`
	Text string `json:"text,omitempty"` // message of the compiler if not OK
}

// Language describes how programs of a language are compiled and started.
type Language struct {
	Name     string // "cpp", "python": enters keys
	Filename string // default file name of the source
	compiled bool
}

// The languages.
var (
	CPP    = Language{Name: "cpp", Filename: "main.cpp", compiled: true}
	Python = Language{Name: "python", Filename: "main.py"}
)

// built is the file that a compiler writes.
const built = "a"

// program returns the command to start a program of the language, and the file's name in its directory.
func (l Language) program(filename string) (argv []string, as string) {
	if l.compiled {
		return []string{built}, built
	}
	return []string{"/usr/bin/python3", filename}, filename
}

// CompileLimits returns the limits of a compilation.
func CompileLimits(cpu time.Duration, memory int64) backend.Limits {
	return backend.Limits{
		CPU: cpu, Clock: compileClock * cpu, Memory: memory, Processes: compileProcesses,
		Stdout: compileOutput, Stderr: compileOutput,
	}
}

const (
	// The wall-clock limit is for a compiler that waits, not for one delayed by a busy machine.
	compileClock     = 10
	compileProcesses = 128
	compileOutput    = 1 << 20
	maxSource        = 10 << 20 // bytes of a solution's source
)

// Compile is the task that compiles a solution. A compilation error is data. The program of an interpreted
// language is its source.
type Compile struct {
	Language Language
	Filename string // name of the source
	Flags    []string
	Limits   backend.Limits
	Box      *Box
	Source   *tasks.Files // a file
}

// Describe implements graph.Task.
func (c *Compile) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe of compiling", 1)
	m.String("language", c.Language.Name)
	if c.Language.compiled {
		m.Strings("flags", c.Flags)
		describeLimits(m, "", c.Limits)
		if err := c.Box.describe(ctx, m); err != nil {
			return err
		}
	}
	return c.Source.Describe(ctx, m)
}

// Run implements graph.Task.
func (c *Compile) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	return runBlamed(ctx, w, c.work)
}

func (c *Compile) work(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if o, refused, err := c.Source.Refusal(ctx, w.Store); refused {
		return o, err
	}
	files, err := c.Source.Put(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	d, program, err := c.compile(ctx, w, files)
	if err != nil {
		return graph.Outcome{}, err
	}
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	k.JSON(OutputDiagnosis, d)
	if d.OK {
		k.Outcome.Outputs = append(k.Outcome.Outputs, cache.Output{Name: OutputProgram, Digest: program})
		return k.Outcome, k.Err
	}
	k.Outcome.Message = "does not compile"
	k.Keep(graph.LogOutput, []byte(d.Text+"\n"))
	return k.Outcome, k.Err
}

func (c *Compile) compile(ctx context.Context, w *graph.Work, files []cache.Entry) (Diagnosis, cache.Digest, error) {
	code := files[0].Digest
	if code.Size > maxSource {
		return Diagnosis{Text: fmt.Sprintf("the source has %d bytes; the limit is %d", code.Size, maxSource)}, cache.Digest{}, nil
	}
	content, err := cache.ReadBlob(ctx, w.Store, code, maxSource)
	if err != nil {
		return Diagnosis{}, cache.Digest{}, fmt.Errorf("reading the source: %w", err)
	}
	if strings.TrimSpace(string(content)) == "" {
		return Diagnosis{Text: "the source is empty"}, cache.Digest{}, nil
	}
	if !c.Language.compiled {
		return Diagnosis{OK: true}, code, nil
	}
	return gxx(ctx, c.Box, files, c.Filename, c.Flags, c.Limits)
}

// gxx runs the C++ compiler on one of files.
func gxx(ctx context.Context, box *Box, files []cache.Entry, filename string, flags []string, limits backend.Limits) (Diagnosis, cache.Digest, error) {
	argv := append([]string{"/usr/bin/g++", filename}, flags...)
	p := backend.Program{Argv: append(argv, "-I.", "-o", built), Limits: limits, Keep: []string{built}}
	for _, f := range files {
		p.Files = append(p.Files, backend.File{Path: f.Path, Digest: f.Digest})
	}
	end, err := box.runSettled(ctx, p)
	if err != nil {
		return Diagnosis{}, cache.Digest{}, err
	}
	text := withoutTemporaries(readable(end.Stderr))
	failed := func(why string) (Diagnosis, cache.Digest, error) {
		return Diagnosis{Text: strings.TrimSpace(why + "\n" + text)}, cache.Digest{}, nil
	}
	switch end.Status {
	case backend.ClockLimit:
		return failed(fmt.Sprintf("compiling took longer than %v, twice, without waiting for a processor: the source made it wait", limits.Clock))
	case backend.CPULimit:
		return failed(fmt.Sprintf("compiling took more than %v of processor time", limits.CPU))
	case backend.MemoryLimit:
		return failed(fmt.Sprintf("compiling took more than %d bytes of memory", limits.Memory))
	case backend.OutputLimit:
		return failed("the compiler's output exceeded its limit")
	case backend.Signalled:
		return failed("the compiler was ended by a signal: " + end.Signal)
	}
	if end.Code != 0 {
		if text == "" {
			return failed(fmt.Sprintf("the compiler ended with exit status %d", end.Code))
		}
		return failed(firstError(text))
	}
	if len(end.Kept) != 1 {
		return failed("the compiler did not create a program")
	}
	return Diagnosis{OK: true}, end.Kept[0].Digest, nil
}

// firstError returns the first line with an error in a compiler's output, for views with a single line, or
// "" if the output begins with it.
func firstError(text string) string {
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "error: ") {
			if i == 0 {
				return ""
			}
			return line
		}
	}
	return ""
}

// temporary matches the random names of a compiler's files between its passes.
var temporary = lazyregexp.New(`/tmp/cc[A-Za-z0-9]{6}\b`)

func withoutTemporaries(text string) string {
	return temporary().ReplaceAllString(text, "/tmp/cc")
}

// Tool is the task that compiles a problem's checker or interactor, shared by every solution. A
// compilation error is an error of the problem.
type Tool struct {
	Name   string // "checker" or "interactor"
	Flags  []string
	Limits backend.Limits
	Box    *Box
	Source *tasks.Files // ToolFile of Name, and headers
}

// ToolFile returns the file name of a tool's source.
func ToolFile(name string) string { return name + ".cc" }

// Describe implements graph.Task.
func (t *Tool) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe of compiling", 1)
	m.Strings("flags", t.Flags)
	describeLimits(m, "", t.Limits)
	if err := t.Box.describe(ctx, m); err != nil {
		return err
	}
	return t.Source.Describe(ctx, m)
}

// Run implements graph.Task.
func (t *Tool) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	files, err := t.Source.Put(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	d, program, err := gxx(ctx, t.Box, files, ToolFile(t.Name), t.Flags, t.Limits)
	if err != nil {
		return graph.Outcome{}, err
	}
	if !d.OK {
		fmt.Fprintln(w.Log, d.Text)
		return graph.Outcome{}, &graph.InputError{Err: errors.New("the " + t.Name + " does not compile: " + d.Text)}
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: OutputProgram, Digest: program}}}, nil
}
