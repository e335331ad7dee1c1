package event

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// The files of a run's directory.
const (
	EventsFile  = "events.jsonl"
	ResultsFile = "results.json"
	sameFile    = "same.jsonl"  // the events of the run that a RunSame names
	sinceFile   = "since.jsonl" // of nodes that were decided after that, once or more often
	sameResults = "same.json"   // the results of a run of everything, in place of ResultsFile
	patchesFile = "since.json"  // what runs of a part came to after that, as patches of it
	logsDir     = "logs"
	logSuffix   = ".log"
	latestFile  = "latest"
	runsDir     = "runs"
)

// NewRunID returns an id that sorts by time and reads as one, such as
// 20260102-030405-8003ab: three digits are the fraction of the second, in steps
// of a quarter of a millisecond, and three are the low bits of random, which keep
// runs that began in one such step apart.
func NewRunID(now time.Time, random uint16) string {
	fraction := int64(now.Nanosecond()) << 12 / int64(time.Second)
	return fmt.Sprintf("%s-%03x%03x", now.UTC().Format("20060102-150405"), fraction, random&0xfff)
}

// Recorder writes the record of one run: its events as they happen, and the
// logs of broken attempts. It implements Sink.
type Recorder struct {
	dir   string
	state string
	run   string
	file  *os.File
	buf   *bufio.Writer
	sum   hash.Hash // of the events
	err   error     // of the events; there are no more after it

	saving sync.Mutex // of logs, which attempts save at the same time
	sums   sums       // of the other files
	logs   error      // of the logs
}

// NewRecorder creates runs/<run>/ in the project's state directory.
func NewRecorder(state, run string) (*Recorder, error) {
	dir := filepath.Join(state, runsDir, run)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the run record: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("creating the run record: %w", err)
	}
	return &Recorder{dir: dir, state: state, run: run, file: file, buf: bufio.NewWriter(file), sum: sha256.New(), sums: sums{}}, nil
}

// Emit implements Sink. What happens to cached nodes is written in blocks;
// everything else at once, so that a crash loses nothing that was done.
func (r *Recorder) Emit(e Event) {
	if r.err != nil {
		return
	}
	if r.err = writeLine(io.MultiWriter(r.buf, r.sum), e); r.err != nil {
		return
	}
	if done, ok := e.(NodeDone); ok && done.State == Cached {
		return
	}
	r.err = r.buf.Flush()
}

func writeLine(w io.Writer, e Event) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		return err
	}
	_, err := w.Write(line.Bytes())
	return err
}

// SaveLog keeps what a broken attempt of a node printed; the last one wins. It is
// safe for concurrent use, unlike the other methods.
func (r *Recorder) SaveLog(addr string, _ int, output []byte) {
	r.saving.Lock()
	defer r.saving.Unlock()
	dir := filepath.Join(r.dir, logsDir)
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, logName(addr)), output, 0o644)
		r.sums[logsDir+"/"+logName(addr)] = sha256.Sum256(output)
	}
	r.logs = errors.Join(r.logs, err)
}

// logName is a file name for any address.
func logName(addr string) string {
	sum := sha256.Sum256([]byte(addr))
	return hex.EncodeToString(sum[:12]) + logSuffix
}

// SaveResults writes the run's results file, of which the parts are given in order.
// It appears whole, but does not wait for the disk: its checksum tells whether it
// is what was written.
func (r *Recorder) SaveResults(parts ...[]byte) error {
	sum := sha256.New()
	whole := filepath.Join(r.dir, ResultsFile)
	file, err := os.OpenFile(whole+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	const buffer = 64 << 10
	w := bufio.NewWriterSize(io.MultiWriter(sum, file), buffer)
	for _, part := range parts {
		w.Write(part) // a first error is kept
	}
	err = errors.Join(w.Flush(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), whole)
	}
	if err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("writing the results: %w", err)
	}
	r.sums[ResultsFile] = [sha256.Size]byte(sum.Sum(nil))
	return nil
}

// SaveResultsSince says that the results are those of an earlier run, run, but for
// some bytes. The patches are of the results of the run of everything in that one's
// record, and take the place of its patches; see Run.PatchedResults. It does not
// matter whether that record is removed.
func (r *Recorder) SaveResultsSince(run string, patches []Patch) error {
	from := OpenRun(r.state, run)
	err := r.adopt(from, sameResults, sameResults)
	if errors.Is(err, fs.ErrNotExist) {
		err = r.adopt(from, ResultsFile, sameResults)
	}
	if err == nil {
		err = r.savePatches(patches)
	}
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// Same says that the run came to what an earlier run of the project did, As, of
// which its record from then on holds the events and results; it does not matter
// whether that one's is removed. Nothing of this run was emitted but its start.
func (r *Recorder) Same(e RunSame) error {
	from := OpenRun(r.state, e.As)
	if err := r.takeOver(from); err != nil {
		return err
	}
	err := r.adopt(from, ResultsFile, ResultsFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(r.adopt(from, sameResults, sameResults), r.adopt(from, patchesFile, patchesFile))
	}
	if err != nil {
		return fmt.Errorf("writing the run record: %w", err)
	}
	r.Emit(e)
	return nil
}

// Since is like Same for a run that decides about some nodes, which it emits,
// and came to what the other run did for the rest. Its results are saved as those of
// any other run, or by SaveResultsSince.
func (r *Recorder) Since(e RunSame) error {
	if err := r.takeOver(OpenRun(r.state, e.As)); err != nil {
		return err
	}
	r.Emit(e)
	return nil
}

// adopt makes a file of another run's record one of this.
func (r *Recorder) adopt(from *Run, name, as string) error {
	known, err := from.sums()
	if err != nil {
		return err
	}
	if err := linkOrCopy(filepath.Join(from.dir, name), filepath.Join(r.dir, as)); err != nil {
		return err
	}
	if sum, ok := known[name]; ok { // not summed again: it may be large
		r.sums[as] = sum
	}
	return nil
}

// takeOver makes the events of another run's record part of this one.
func (r *Recorder) takeOver(from *Run) error {
	err := r.adopt(from, sameFile, sameFile)
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		return err
	case errors.Is(err, fs.ErrNotExist):
		err = r.adopt(from, EventsFile, sameFile)
	case err == nil: // that run was the same as another one, but perhaps for some nodes
		err = r.addSince(from)
	}
	if err != nil {
		return fmt.Errorf("writing the run record: %w", err)
	}
	return nil
}

// addSince writes down what another run, and those that it took over, decided
// about some nodes.
func (r *Recorder) addSince(from *Run) error {
	since, err := from.read(sinceFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	own, err := from.read(EventsFile)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(own) {
		if _, ok := Decode(line).(NodeDone); ok {
			since = append(since, line...)
		}
	}
	if len(since) == 0 {
		return nil
	}
	r.sums[sinceFile] = sha256.Sum256(since)
	return os.WriteFile(filepath.Join(r.dir, sinceFile), since, 0o644)
}

// linkOrCopy makes a file that is never written again appear at another place.
func linkOrCopy(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	content, err := os.ReadFile(from) // some file systems have no links
	if err != nil {
		return err
	}
	return atomicfile.WriteDurable(to, 0o644, content)
}

// Close finishes the record and makes its run the latest one.
func (r *Recorder) Close() error {
	err := errors.Join(r.err, r.logs, r.buf.Flush(), r.file.Close())
	if err == nil {
		r.sums[EventsFile] = [sha256.Size]byte(r.sum.Sum(nil))
		err = os.WriteFile(filepath.Join(r.dir, SumsFile), r.sums.encode(), 0o644)
	}
	if err == nil {
		err = atomicfile.WriteDurable(filepath.Join(r.state, latestFile), 0o644, []byte(r.run+"\n"))
	}
	if err != nil {
		return fmt.Errorf("writing the run record: %w", err)
	}
	return nil
}

// Run is the record of a past run.
type Run struct {
	ID  string
	dir string
}

// ErrNoRuns says that nothing has been recorded.
var ErrNoRuns = errors.New("no run has been recorded here yet; `fevalgraph run` makes one")

// Runs lists the ids of recorded runs, oldest first.
func Runs(state string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(state, runsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the runs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// FindRun opens the record of a run, given by its id, a part of it that no
// other has, or "latest"; "" is "latest".
func FindRun(state, name string) (*Run, error) {
	ids, err := Runs(state)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, ErrNoRuns
	}
	if name == "" || name == "latest" {
		return OpenRun(state, latest(state, ids)), nil
	}
	var fit []string
	for _, id := range ids {
		if id == name {
			return OpenRun(state, id), nil
		}
		if strings.Contains(id, name) {
			fit = append(fit, id)
		}
	}
	switch len(fit) {
	case 1:
		return OpenRun(state, fit[0]), nil
	case 0:
		return nil, fmt.Errorf("there is no run %q; the latest is %s", name, ids[len(ids)-1])
	}
	return nil, fmt.Errorf("%q fits several runs: %s", name, strings.Join(fit, ", "))
}

func latest(state string, ids []string) string {
	content, err := os.ReadFile(filepath.Join(state, latestFile))
	if id := strings.TrimSpace(string(content)); err == nil && slices.Contains(ids, id) {
		return id
	}
	return ids[len(ids)-1]
}

// OpenRun opens the record of the run with an id, which need not be there.
func OpenRun(state, id string) *Run {
	return &Run{ID: id, dir: filepath.Join(state, runsDir, id)}
}

// Each calls fn for every event of the run, in order, until it returns false.
// Lines that do not decode, such as one cut off by a crash, are skipped. A
// RunSame is followed by the NodeDone events that it stands for. That the file is
// not what was written, a *DamagedError, shows at its end.
func (r *Run) Each(fn func(Event) bool) error {
	return r.eachEvent(EventsFile, func(e Event) (bool, error) {
		same, ok := e.(RunSame)
		if more := fn(e); !ok || !more {
			return more, nil
		}
		return r.eachServed(same.As, fn)
	})
}

// eachServed calls fn for the nodes that a RunSame stands for, until it returns
// false.
func (r *Run) eachServed(as string, fn func(Event) bool) (more bool, err error) {
	since, err := r.doneIn(sinceFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	own, err := r.doneIn(EventsFile)
	if err != nil {
		return false, err
	}
	more = true
	err = r.eachEvent(sameFile, func(e Event) (bool, error) {
		done, ok := e.(NodeDone)
		if _, decided := own[done.Addr]; !ok || decided {
			return true, nil
		}
		if later, ok := since[done.Addr]; ok {
			done = later
		}
		more = fn(done.served(as))
		return more, nil
	})
	return more, err
}

// doneIn are the last NodeDone of a file of the record, by address.
func (r *Run) doneIn(name string) (map[string]NodeDone, error) {
	all := map[string]NodeDone{}
	err := r.eachEvent(name, func(e Event) (bool, error) {
		if done, ok := e.(NodeDone); ok {
			all[done.Addr] = done
		}
		return true, nil
	})
	return all, err
}

// served is what became of a node in a run that had nothing to do after run.
func (e NodeDone) served(run string) NodeDone {
	if e.State != Cached {
		e.State, e.Cause = Cached, "inputs unchanged since run "+run
	}
	e.Changes, e.Seconds, e.Attempt = nil, 0, 0
	return e
}

func (r *Run) eachEvent(name string, fn func(Event) (bool, error)) error {
	file, err := os.Open(filepath.Join(r.dir, name))
	if err != nil {
		return fmt.Errorf("reading the run record: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	reader := bufio.NewReader(io.TeeReader(file, sum))
	for {
		line, err := reader.ReadBytes('\n')
		if e := Decode(line); e != nil {
			if more, err := fn(e); !more || err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return r.check(name, sum.Sum(nil))
		}
		if err != nil {
			return fmt.Errorf("reading the run record: %w", err)
		}
	}
}

// Node returns the last state of a node in the run; nil when it was not in it.
func (r *Run) Node(addr string) (*NodeDone, error) {
	var found *NodeDone
	err := r.Each(func(e Event) bool {
		if done, ok := e.(NodeDone); ok && done.Addr == addr {
			found = &done
		}
		return true
	})
	return found, err
}

// Log returns what the node's broken attempt in this run printed. One that is not
// what was written is a *DamagedError.
func (r *Run) Log(addr string) ([]byte, error) {
	return r.read(logsDir + "/" + logName(addr))
}

// Decode reads one line of the stream; nil when it is none that this version
// knows.
func Decode(line []byte) Event {
	var head struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(line, &head) != nil {
		return nil
	}
	switch head.Type {
	case "run.start":
		return decodeAs[RunStart](line)
	case "node.queued":
		return decodeAs[NodeQueued](line)
	case "node.start":
		return decodeAs[NodeStart](line)
	case "node.retry":
		return decodeAs[NodeRetry](line)
	case "node.note":
		return decodeAs[NodeNote](line)
	case "node.reopened":
		return decodeAs[NodeReopened](line)
	case "node.done":
		return decodeAs[NodeDone](line)
	case "run.same":
		return decodeAs[RunSame](line)
	case "run.end":
		return decodeAs[RunEnd](line)
	}
	return nil
}

func decodeAs[E Event](line []byte) Event {
	var e E
	if json.Unmarshal(line, &e) != nil {
		return nil
	}
	return e
}
