package judge

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// The dependencies of Run, Check and Interact.
const (
	FromTestData = "test data" // OutputIn and, for judging, OutputAns
	FromSolution = "solution"  // OutputProgram of a Compile, if it succeeded
	FromTool     = "tool"      // OutputProgram of a Tool
	FromRun      = "run"       // outputs of Run
)

// The outputs of Run, besides the log, which is the program's standard error.
const (
	OutputExit    = "exit"    // always: how the program ended
	OutputStdout  = "stdout"  // a blob, if a program ran
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

// outOfMemory matches the messages of runtimes about an uncaught allocation failure.
var outOfMemory = lazyregexp.New(`(?m)std::bad_alloc|^MemoryError|java\.lang\.OutOfMemoryError|[Cc]annot allocate memory`)

// starved returns e with the status MemoryLimit if the program ran out of memory. A limit on the
// address space does not end a program: allocations fail, and most programs crash. A program that
// allocates everything at once has used little memory, but its runtime prints the reason, or its
// static arrays are so large that the system ended it at the start. A program that prints the same
// without a reason fails in any case.
func (b *Box) starved(ctx context.Context, store cache.Store, program cache.Digest, e backend.Ending, l backend.Limits) (backend.Ending, error) {
	const nearly = 0.95 // of the limit: the last request is not counted
	failed := e.Status == backend.Signalled || e.Status == backend.Exited && e.Code != 0
	if !l.AddressSpace || !failed {
		return e, nil
	}
	out := float64(e.Memory) >= nearly*float64(l.Memory) || outOfMemory().Match(e.Stderr)
	if !out && e.Status == backend.Signalled {
		r, err := store.Open(ctx, program)
		if err != nil {
			return e, fmt.Errorf("reading the program: %w", err)
		}
		out = segments(r) > uint64(l.Memory)
		r.Close()
	}
	if out {
		e.Status, e.Code, e.Signal = backend.MemoryLimit, 0, ""
	}
	return e, nil
}

// segments returns the bytes of memory that a 64-bit program occupies at the start, or 0 if r is not
// such a program.
func segments(r io.Reader) (all uint64) {
	var h elf.Header64
	if binary.Read(r, binary.LittleEndian, &h) != nil || string(h.Ident[:elf.EI_CLASS+1]) != elf.ELFMAG+string(rune(elf.ELFCLASS64)) {
		return 0
	}
	if h.Phoff != uint64(binary.Size(h)) { // where linkers put them
		return 0
	}
	for range h.Phnum {
		var p elf.Prog64
		if binary.Read(r, binary.LittleEndian, &p) != nil {
			return 0
		}
		if elf.ProgType(p.Type) == elf.PT_LOAD {
			all += min(p.Memsz, math.MaxUint64-all)
		}
	}
	return all
}

// RunLog formats the outputs of a Run for users: standard output, standard error, and how the program ended.
// exit is the content of OutputExit.
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

// maxStderr limits the stored standard error of a program, in bytes.
const maxStderr = 1 << 20

// Run is the task that runs a solution on the input of a case. If the solution did not compile, it reports
// that without running it.
type Run struct {
	Language Language
	Filename string
	Limits   backend.Limits
	Repeat   int
	Box      *Box
}

// Describe implements graph.Task.
func (r *Run) Describe(ctx context.Context, m *graph.Manifest) error {
	// 2: crashing for lack of memory is a memory limit; 3: a busy machine is not a limit of time; 5: so is
	// crashing for lack of memory that was requested at once.
	m.Int("recipe", 5)
	argv, _ := r.Language.program(r.Filename)
	m.Strings("argv", argv)
	describeLimits(m, "", r.Limits)
	m.Int("repeat", int64(r.Repeat))
	return r.Box.describe(ctx, m)
}

// Run implements graph.Task.
func (r *Run) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	return runBlamed(ctx, w, r.work)
}

func (r *Run) work(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	program, ok := w.Input(FromSolution, OutputProgram)
	if !ok {
		k.JSON(OutputExit, end{})
		k.JSON(OutputMeasure, Measure{})
		return k.Outcome, k.Err
	}
	in, err := input(w, FromTestData, OutputIn)
	if err != nil {
		return k.Outcome, err
	}
	argv, as := r.Language.program(r.Filename)
	ends, err := r.Box.patient(ctx, backend.Program{
		Argv: argv, Env: r.Box.Env, Files: []backend.File{{Path: as, Digest: program}}, Stdin: in, Limits: r.Limits,
	})
	if err != nil {
		return k.Outcome, err
	}
	e := ends[0]
	k.Outcome.Outputs = []cache.Output{{Name: OutputStdout, Digest: e.Stdout}}
	if e, err = r.Box.starved(ctx, w.Store, program, e, r.Limits); err != nil {
		return k.Outcome, err
	}
	k.JSON(OutputExit, endOf(e))
	k.JSON(OutputMeasure, measureOf(e))
	if len(e.Stderr) > 0 {
		k.Keep(graph.LogOutput, e.Stderr)
	}
	return k.Outcome, k.Err
}
