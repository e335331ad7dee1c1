// Package wire defines the messages between package remote and the program in an action: a Task is in the
// input root, and a Result is an output. It is separate because the program needs none of the code that
// talks to an engine.
package wire

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Protocol is the version of the messages between a client and the program in an action. Both are usually
// the same program, since a client sends its own.
const Protocol = 1

// Command is the subcommand that starts the program in an action.
const Command = "action"

// Paths in the input root of an action. Files that are named by digest have the hexadecimal hash as their
// name.
const (
	ProgramFile  = "fevalgraph"
	TaskFile     = "task"   // a Task in JSON
	StateFile    = "state"  // the parcel.Index of Task.Session, frozen
	JudgeFile    = "judge"  // go-judge
	SnapshotFile = "base"   // the parcel.Index of Task.Snapshot, frozen
	InputsDir    = "inputs" // trees, named by their index in Task.Inputs
	PiecesDir    = "pieces" // pieces of parcels, by digest
	FilesDir     = "files"  // files of programs, by digest
)

// Outputs of an action, relative to its root.
const (
	ResultFile = "result" // a Result in JSON
	IndexFile  = "index"  // the parcel.Index for the next action, frozen, unless Result.Index has it
	OutputDir  = "output" // pieces of the command's output, unless Result.Output has it
	ErrorsDir  = "errors" // as OutputDir, for Result.Errors
	LeftDir    = "left"   // new pieces of the parcel, or outputs of programs, by index
)

// OutputPaths are the files of an action that the engine keeps.
var OutputPaths = []string{ErrorsDir, IndexFile, LeftDir, OutputDir, ResultFile}

// Inline is the size, in bytes, up to which content is part of a Result; larger content is in files.
const Inline = 64 << 10

// Task is the request to the program in an action: identify the machine, and then do the one task that is
// set after Host.
type Task struct {
	Protocol int  `json:"protocol"`
	Host     Host `json:"host"`
	// Ask lists questions to answer. Expect lists required answers: if the machine has other answers, it does
	// nothing.
	Ask    []string              `json:"ask,omitempty"`
	Expect map[string]facts.Fact `json:"expect,omitempty"`

	Session  *Session          `json:"session,omitempty"`
	Programs []backend.Program `json:"programs,omitempty"`
}

// Host configures the backend that the program creates for the machine.
type Host struct {
	// Scratch is an existing directory of the machine. Workspaces are created below it, in a directory for
	// each user.
	Scratch string `json:"scratch"`
	// Path is the PATH for tools, and for commands without a PATH.
	Path      string   `json:"path"`
	Python    string   `json:"python,omitempty"`
	Versions  []string `json:"versions,omitempty"`
	Isolation string   `json:"isolation,omitempty"`
	// JudgeVersions are commands that run in go-judge for the sandbox's identity.
	JudgeVersions []string `json:"judge_versions,omitempty"`
	// Run identifies the run: a machine caches its answers for a run.
	Run string `json:"run"`
}

// Session is a step of a session: restore its directory, place inputs and, optionally, run a command.
type Session struct {
	ID string `json:"id"` // names the directory
	// State reports that a StateFile exists.
	State    bool      `json:"state,omitempty"`
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	Inputs   []Input   `json:"inputs,omitempty"`
	ReadOnly []string  `json:"read_only,omitempty"`
	Isolated bool      `json:"isolated,omitempty"`
	// Exec is the command, without its writers; nil means none.
	Exec  *backend.Command `json:"exec,omitempty"`
	Apart bool             `json:"apart,omitempty"` // Exec has a writer for stderr
	// Prepare names the directory for files that the command fetches for others; "" if it fetches none. The
	// resulting parcel contains this directory.
	Prepare string `json:"prepare,omitempty"`
	Limit   int64  `json:"limit"` // of the resulting parcel, in bytes
}

// Snapshot is a directory that a command prepared.
type Snapshot struct {
	ID    string       `json:"id"`
	Index cache.Digest `json:"index"`
}

// Input is a backend.Input. If it was already placed, it only provides content that the state refers to.
type Input struct {
	backend.Input
	Placed bool `json:"placed,omitempty"`
}

// Result is the outcome of a Task.
type Result struct {
	Protocol int `json:"protocol"`
	// Host names the machine, for users.
	Host  string                `json:"host"`
	Facts map[string]facts.Fact `json:"facts,omitempty"`
	// Different contains answers that differ from the expected ones. If there are any, nothing else was done.
	Different map[string]facts.Fact `json:"different,omitempty"`
	Failure   *worker.Failure       `json:"failure,omitempty"`

	Exit   backend.Exit    `json:"exit"`
	Verify *worker.Failure `json:"verify,omitempty"` // of backend.Session.Verify
	Notes  []byte          `json:"notes,omitempty"`
	// Output and Errors are the command's outputs, unless they are in pieces.
	Output       []byte         `json:"output,omitempty"`
	Errors       []byte         `json:"errors,omitempty"`
	OutputPieces []cache.Digest `json:"output_pieces,omitempty"`
	ErrorsPieces []cache.Digest `json:"errors_pieces,omitempty"`
	// Index is the resulting parcel, frozen, or IndexAt is its location.
	Index   []byte        `json:"index,omitempty"`
	IndexAt *cache.Digest `json:"index_at,omitempty"`

	// Added is the only new piece of the parcel, if it is small; it is also a file.
	Added []byte `json:"added,omitempty"`

	Endings []backend.Ending `json:"endings,omitempty"`
	// Blobs contains small outputs in Endings; the others are files.
	Blobs [][]byte `json:"blobs,omitempty"`
}

// Encode encodes a Task or a Result.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data always encodes
	}
	return b
}

// Carried lists the parts of a session that one command leaves for the next.
var Carried = []string{"home", "tmp", Work}

// Work is the part of a session that is its workspace.
const Work = "work"

// Questions to machines, besides those of package facts.
const (
	Place = "place" // directory of workspaces
	GPU   = "gpu"   // why commands see no GPU; "" if they see one
)

// FilesOf yields the distinct contents that programs need.
func FilesOf(programs []backend.Program) iter.Seq[cache.Digest] {
	seen := map[cache.Digest]bool{{}: true}
	return func(yield func(cache.Digest) bool) {
		for _, p := range programs {
			all := []cache.Digest{p.Stdin}
			for _, f := range p.Files {
				all = append(all, f.Digest)
			}
			for _, d := range all {
				if !seen[d] && !yield(d) {
					return
				}
				seen[d] = true
			}
		}
	}
}

// LeftBy returns the distinct outputs of programs.
func LeftBy(endings []backend.Ending) (all []cache.Digest) {
	add := func(d cache.Digest) {
		if !d.IsZero() && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	for _, e := range endings {
		add(e.Stdout)
		for _, k := range e.Kept {
			add(k.Digest)
		}
	}
	return all
}
