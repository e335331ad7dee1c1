package judge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// The dependencies of Run, Check and Interact.
const (
	FromTestData = "test data" // OutputIn, and for a judge OutputAns
	FromSolution = "solution"  // OutputProgram of a Compile, if it has one
	FromTool     = "tool"      // OutputProgram of a Tool
	FromRun      = "run"       // what Run left
)

// The outputs of Run beside the log, which is what the program printed to its
// standard error.
const (
	OutputExit    = "exit"    // always: how the program ended
	OutputStdout  = "stdout"  // a blob, when there was a program
	OutputMeasure = "measure" // always: a Measure
)

// Measure is the content of OutputMeasure.
type Measure struct {
	CPUMS       float64 `json:"cpu_ms"`
	ClockMS     float64 `json:"clock_ms"`
	MemoryBytes int64   `json:"memory_bytes"`
}

func measureOf(e backend.Ending) Measure {
	return Measure{CPUMS: milliseconds(e.CPU), ClockMS: milliseconds(e.Clock), MemoryBytes: e.Memory}
}

// outOfMemory is what runtimes print of a program that got no memory and did not catch it.
var outOfMemory = lazyregexp.New(`(?m)std::bad_alloc|^MemoryError|java\.lang\.OutOfMemoryError|[Cc]annot allocate memory`)

// starved is e as the end of a program that ran out of memory, if it was one.
// Where the address space is limited, a program that asks for too much is not
// ended: it gets none, and most crash of that. One that asks for all at once has used
// little, and its runtime prints why it crashed. A program that prints the same for no
// reason fails in any case.
func starved(e backend.Ending, l backend.Limits) backend.Ending {
	const nearly = 0.95 // of the limit: what it asked for last is not counted
	failed := e.Status == backend.Signalled || e.Status == backend.Exited && e.Code != 0
	if l.AddressSpace && failed && (float64(e.Memory) >= nearly*float64(l.Memory) || outOfMemory().Match(e.Stderr)) {
		e.Status, e.Code, e.Signal = backend.MemoryLimit, 0, ""
	}
	return e
}

// RunLog is what a program printed in a Run, for people: its standard output, its
// standard error, and how it ended. exit is the content of OutputExit.
func RunLog(stdout, stderr, exit []byte) ([]byte, error) {
	var ended end
	if err := json.Unmarshal(exit, &ended); err != nil {
		return nil, fmt.Errorf("reading how the program ended: %w", err)
	}
	var log transcript
	log.say(stdout)
	log.add("solution", stderr, ended)
	return log, nil
}

// maxStderr bounds what is kept of a program's standard error, in bytes.
const maxStderr = 1 << 20

// Run is the task that runs a solution on the input of one case. Without a
// program, because it did not compile, it says so and runs nothing.
type Run struct {
	Language Language
	Filename string
	Limits   backend.Limits
	Repeat   int
	Box      *Box
}

// Describe implements graph.Task.
func (r *Run) Describe(ctx context.Context, m *graph.Manifest) error {
	// 2: crashing for want of memory is a memory limit; 3: a busy machine is
	// none of time; 4: so is crashing for want of memory that was asked for at once.
	m.Int("recipe", 4)
	argv, _ := r.Language.program(r.Filename)
	m.Strings("argv", argv)
	describeLimits(m, "", r.Limits)
	m.Int("repeat", int64(r.Repeat))
	return r.Box.describe(ctx, m)
}

// Run implements graph.Task.
func (r *Run) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var o graph.Outcome
	program, ok := w.Input(FromSolution, OutputProgram)
	if !ok {
		if err := put(ctx, w, &o, OutputExit, end{}); err != nil {
			return o, err
		}
		return o, put(ctx, w, &o, OutputMeasure, Measure{})
	}
	in, err := input(w, FromTestData, OutputIn)
	if err != nil {
		return o, err
	}
	argv, as := r.Language.program(r.Filename)
	w.Phase(graph.Executing)
	ends, err := r.Box.patient(ctx, backend.Program{
		Argv: argv, Env: r.Box.Env, Files: []backend.File{{Path: as, Digest: program}}, Stdin: in, Limits: r.Limits,
	})
	if err != nil {
		return o, err
	}
	e := ends[0]
	o.Outputs = []cache.Output{{Name: OutputStdout, Digest: e.Stdout}}
	if err := put(ctx, w, &o, OutputExit, endOf(starved(e, r.Limits))); err != nil {
		return o, err
	}
	if err := put(ctx, w, &o, OutputMeasure, measureOf(e)); err != nil {
		return o, err
	}
	if len(e.Stderr) > 0 {
		return o, put(ctx, w, &o, graph.LogOutput, e.Stderr)
	}
	return o, nil
}
