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

// Protocol is the version of what a client and the program in an action say to each other.
// They are the same program as a rule, since a client brings its own.
const Protocol = 1

// Command is the word by which the program is started in an action.
const Command = "action"

// What is in the input root of an action, relative to it. Files that are named by digests
// are called by their hash in hexadecimal digits.
const (
	ProgramFile  = "fevalgraph"
	TaskFile     = "task"   // a Task in JSON
	StateFile    = "state"  // the parcel.Index of Task.Session, frozen
	JudgeFile    = "judge"  // go-judge
	SnapshotFile = "base"   // the parcel.Index of Task.Snapshot, frozen
	InputsDir    = "inputs" // trees, called by their place in Task.Inputs
	PiecesDir    = "pieces" // pieces of parcels, by digest
	FilesDir     = "files"  // files of programs, by digest
)

// What an action leaves, relative to its root.
const (
	ResultFile = "result" // a Result in JSON
	IndexFile  = "index"  // the parcel.Index that goes on, frozen, unless Result.Index has it
	OutputDir  = "output" // pieces of what the command printed, unless Result.Output has it
	ErrorsDir  = "errors" // likewise
	LeftDir    = "left"   // new pieces of the parcel, or what programs left, by place
)

// OutputPaths are the files of an action that the engine keeps.
var OutputPaths = []string{ErrorsDir, IndexFile, LeftDir, OutputDir, ResultFile}

// Inline is the size, in bytes, up to which content is part of a Result; larger content is in files.
const Inline = 64 << 10

// Task tells the program in an action what to do: identify the machine, and then do the one task that is set
// after Host.
type Task struct {
	Protocol int  `json:"protocol"`
	Host     Host `json:"host"`
	// Ask are the questions to be answered. Expect are answers that the machine has to give:
	// if it gives another one it does nothing.
	Ask    []string              `json:"ask,omitempty"`
	Expect map[string]facts.Fact `json:"expect,omitempty"`

	Session  *Session          `json:"session,omitempty"`
	Programs []backend.Program `json:"programs,omitempty"`
}

// Host describes how the program makes a backend of the machine.
type Host struct {
	// Scratch is a directory of the machine, which is there: workspaces are below it, in one
	// for each user.
	Scratch string `json:"scratch"`
	// Path is the PATH in which tools are found, and programs of commands without a PATH.
	Path      string   `json:"path"`
	Python    string   `json:"python,omitempty"`
	Versions  []string `json:"versions,omitempty"`
	Isolation string   `json:"isolation,omitempty"`
	// JudgeVersions are commands that run in go-judge for the sandbox's identity.
	JudgeVersions []string `json:"judge_versions,omitempty"`
	// Run tells runs apart: what a machine has answered to one it need not look up again.
	Run string `json:"run"`
}

// Session is a step of a session: its directory is restored, inputs are placed, and a command can run.
type Session struct {
	ID string `json:"id"` // names the directory
	// State reports that there is a StateFile.
	State    bool      `json:"state,omitempty"`
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	Inputs   []Input   `json:"inputs,omitempty"`
	ReadOnly []string  `json:"read_only,omitempty"`
	Isolated bool      `json:"isolated,omitempty"`
	// Exec is the command, without its writers; nil means none.
	Exec  *backend.Command `json:"exec,omitempty"`
	Apart bool             `json:"apart,omitempty"` // Exec has a writer for stderr
	// Prepare makes the command fetch what others need, and names the directory in which it does so. The
	// next parcel contains what it leaves there.
	Prepare string `json:"prepare,omitempty"`
	Limit   int64  `json:"limit"` // of what goes on, in bytes
}

// Snapshot is a directory that a command prepared.
type Snapshot struct {
	ID    string       `json:"id"`
	Index cache.Digest `json:"index"`
}

// Input is a backend.Input. If it was placed before, it only has content that the state refers to.
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
	// Different are the answers that were not the expected ones: nothing else was done then.
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
	// Index is the parcel that goes on, frozen, or IndexAt where it is.
	Index   []byte        `json:"index,omitempty"`
	IndexAt *cache.Digest `json:"index_at,omitempty"`

	// Added is the only new piece of the parcel, if it is small; it is a file, too.
	Added []byte `json:"added,omitempty"`

	Endings []backend.Ending `json:"endings,omitempty"`
	// Blobs are contents of Endings that are small; the others are files.
	Blobs [][]byte `json:"blobs,omitempty"`
}

// Encode returns a Task or a Result as it is sent.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only plain data is sent
	}
	return b
}

// Carried are the parts of a session that one command leaves to the next.
var Carried = []string{"home", "tmp", Work}

// Work is the part of a session that is its workspace.
const Work = "work"

// Questions to machines besides the common ones.
const (
	Place = "place" // where they have workspaces
	GPU   = "gpu"   // why commands see none; "" if they do
)

// FilesOf yields the contents that programs need, each once.
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

// LeftBy returns the contents that programs left, each once.
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
