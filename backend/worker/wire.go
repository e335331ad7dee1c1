package worker

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// Requests are JSON below these paths; blobs and answers of calls are streams.
const (
	pathAttach   = "/v1/attach"        // attachRequest -> attachAnswer
	pathAsk      = "/v1/ask"           // askRequest -> facts.Fact
	pathMissing  = "/v1/blobs/missing" // digests -> the digests that the store lacks
	pathBlobs    = "/v1/blobs"         // a stream of blobs, each after its digest
	pathBlob     = "/v1/blobs/"        // + digest
	pathPrograms = "/v1/programs"      // programs -> runAnswer
	pathSessions = "/v1/sessions/"     // + id: openRequest -> callResult; DELETE closes
	suffixCalls  = "/calls/"           // + number: callRequest -> frames; DELETE cancels
)

// clientHeader contains the id of the client that sends a request.
const clientHeader = "Fevalgraph-Client"

// attachRequest announces a client, or is a heartbeat. A new client takes over the sessions
// of its predecessor.
type attachRequest struct {
	Protocol int `json:"protocol"`
}

type attachAnswer struct {
	Network backend.Network `json:"network"`
	Level   string          `json:"level"`
	GPU     *Failure        `json:"gpu,omitempty"` // why commands see no GPU
	Sandbox bool            `json:"sandbox"`
	// Orphans are the sessions of an earlier client, by the requests that opened them.
	Orphans [][sha256.Size]byte `json:"orphans,omitempty"`
}

// askRequest contains a question of package facts for the backend or the sandbox. The
// answer is a facts.Fact.
type askRequest struct {
	What string `json:"what"`
}

// askAlive has an empty answer.
const askAlive = "alive"

type openRequest struct {
	Spec backend.Spec `json:"spec"`
	// Prepare, if not "", is the name for Backend.Prepare, which is the only call of the
	// session.
	Prepare string `json:"prepare,omitempty"`
}

// callRequest is a call of a session. Exactly one field is set.
type callRequest struct {
	Place   []backend.Input  `json:"place,omitempty"`
	Exec    *backend.Command `json:"exec,omitempty"`  // without its writers
	Apart   bool             `json:"apart,omitempty"` // Exec has a writer for stderr
	Collect *string          `json:"collect,omitempty"`
	Verify  bool             `json:"verify,omitempty"`
	List    *listRequest     `json:"list,omitempty"`
}

// listRequest has the arguments of backend.Lister.List, whose names are data in JSON.
type listRequest struct {
	Dir  string `json:"dir"`
	Most int    `json:"most"`
}

type callResult struct {
	Dir     string       `json:"dir,omitempty"`
	Exit    backend.Exit `json:"exit"`
	Failure *Failure     `json:"failure,omitempty"`
}

type runAnswer struct {
	Endings []backend.Ending `json:"endings,omitempty"`
	// Blobs contains small outputs, to avoid separate requests.
	Blobs [][]byte `json:"blobs,omitempty"`
}

// Kinds of frames. A frame is a byte with its kind, 4 bytes with the length of its data,
// and the data.
const (
	frameOutput = 'o'
	frameErrors = 'e'
	frameNotes  = 'n'
	frameData   = 'd' // of a file that is collected
	frameResult = 'r' // a callResult; the last
)

const frameHeader = 5

const (
	// frameSize is the size of a frame of output. After a connection breaks, only
	// whole frames that arrived are not sent again.
	frameSize = 16 << 10
	// maxFrame limits the size of a frame: results contain error messages.
	maxFrame = 1 << 20
)

func frameHead(kind byte, size int) (head [frameHeader]byte) {
	head[0] = kind
	binary.BigEndian.PutUint32(head[1:], uint32(size))
	return head
}

// readFrame reads one frame. Its data is valid until the next one is read into buffer.
func readFrame(r io.Reader, buffer *[]byte) (kind byte, data []byte, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("frame of %d bytes exceeds the limit of %d", n, maxFrame)
	}
	if int(n) > len(*buffer) {
		*buffer = make([]byte, n)
	}
	data = (*buffer)[:n]
	_, err = io.ReadFull(r, data)
	return head[0], data, err
}

// Failure is the encoding of an error: its text, and the errors that callers check for.
type Failure struct {
	Text    string        `json:"text"`
	Kinds   []string      `json:"kinds,omitempty"` // of sentinels
	Errno   uintptr       `json:"errno,omitempty"` // of an exhausted machine
	Missing *cache.Digest `json:"missing,omitempty"`
	Tool    *typedError   `json:"tool,omitempty"`
	Setting *typedError   `json:"setting,omitempty"`
	Absent  *typedError   `json:"absent,omitempty"`
	// Gone reports that the session or its server no longer exists.
	Gone bool `json:"gone,omitempty"`
}

// typedError contains the fields of an error of package backend.
type typedError struct{ Name, Text, Hint string }

// sentinels lists errors that callers check with errors.Is.
var sentinels = map[string]error{
	"not exist": fs.ErrNotExist, "not regular": backend.ErrNotRegular, "closed": fs.ErrClosed, "canceled": context.Canceled,
	"many files": backend.ErrManyFiles, "no room": backend.ErrNoRoom, "other work": errOtherWork, "restarted": errRestarted,
	"spoiled": backend.ErrSpoiled,
}

// maxText limits the text of an error, so that it fits into a frame.
const maxText = 32 << 10

func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return text[:maxText/2] + " ... " + text[len(text)-maxText/2:]
}

// FailureOf returns an error as a Failure; nil stays nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Text: clip(err.Error())}
	for _, name := range slices.Sorted(maps.Keys(sentinels)) {
		if errors.Is(err, sentinels[name]) {
			f.Kinds = append(f.Kinds, name)
		}
	}
	if e := (*backend.PreemptedError)(nil); errors.As(err, &e) || errors.Is(err, errRestarted) {
		f.Gone = true
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) && exhaustion.Is(errno) {
		f.Errno = uintptr(errno)
	}
	if missing := (*cache.MissingError)(nil); errors.As(err, &missing) {
		f.Missing = &missing.Digest
	}
	if e := (*cache.CorruptError)(nil); errors.As(err, &e) {
		f.Missing = &e.Digest // it was dropped
	}
	if e := (*backend.ToolError)(nil); errors.As(err, &e) {
		f.Tool = &typedError{e.Tool, clip(e.Err.Error()), e.Hint}
	}
	if e := (*backend.SettingError)(nil); errors.As(err, &e) {
		f.Setting = &typedError{e.Setting, clip(e.Err.Error()), e.Hint}
	}
	if e := (*backend.AbsentError)(nil); errors.As(err, &e) {
		f.Absent = &typedError{Name: e.Device, Text: e.Err.Error()}
	}
	return f
}

// Err returns the decoded error, or nil for a nil Failure.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	e := &remoteError{text: f.Text}
	for _, name := range f.Kinds {
		if sentinel := sentinels[name]; sentinel != nil {
			e.wraps = append(e.wraps, sentinel)
		}
	}
	if f.Errno != 0 {
		e.wraps = append(e.wraps, syscall.Errno(f.Errno))
	}
	if f.Missing != nil {
		e.wraps = append(e.wraps, &cache.MissingError{Digest: *f.Missing})
	}
	if t := f.Tool; t != nil {
		e.wraps = append(e.wraps, &backend.ToolError{Tool: t.Name, Err: errors.New(t.Text), Hint: t.Hint})
	}
	if t := f.Setting; t != nil {
		e.wraps = append(e.wraps, &backend.SettingError{Setting: t.Name, Err: errors.New(t.Text), Hint: t.Hint})
	}
	if t := f.Absent; t != nil {
		e.wraps = append(e.wraps, &backend.AbsentError{Device: t.Name, Err: errors.New(t.Text)})
	}
	if f.Gone {
		e.wraps = append(e.wraps, &backend.PreemptedError{Err: errors.New(f.Text)})
	}
	return e
}

// remoteError has the text of an error of the other side and wraps the decoded error.
type remoteError struct {
	text  string
	wraps []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.wraps }

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err)) // plain data always encodes
	}
	return b
}

func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return &cutError{err: fmt.Errorf("reading an answer: %w", err)}
	}
	return nil
}

// maxAnswer limits an answer that is not a stream.
const maxAnswer = 64 << 20

func readJSON(r io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err != nil {
		return &cutError{err: err}
	}
	return decode(text, into)
}
