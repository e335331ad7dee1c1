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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// The files of a run's directory.
const (
	EventsFile   = "events.jsonl"
	ManifestFile = "manifest.json"
	logsDir      = "logs"
	logSuffix    = ".log"
	latestFile   = "latest"
	runsDir      = "runs"
)

// Records locates the records of runs: a state directory, and the key that proves which of the records in it
// are the user's. A moved directory keeps its runs, since they are a history, and not a statement about the
// current project.
type Records struct {
	Dir     string
	Key     proof.Key
	Foreign func(path string) // called for records that the key does not prove; can be nil
}

func (s Records) foreign(path string) {
	if s.Foreign != nil {
		s.Foreign(path)
	}
}

// NewRunID returns an id that sorts by time, such as 20260102-030405-8003ab: three hexadecimal digits are
// the fraction of the second, in steps of a quarter of a millisecond, and three are the low bits of
// random, which distinguish runs that began in the same step.
func NewRunID(now time.Time, random uint16) string {
	fraction := int64(now.Nanosecond()) << 12 / int64(time.Second)
	return fmt.Sprintf("%s-%03x%03x", now.UTC().Format("20060102-150405"), fraction, random&0xfff)
}

// NextRunID returns an id that sorts after the ids of all recorded runs, also of runs that began while the clock was
// ahead: the order of runs is the order of their records. Runs that the user's key does not prove do not count.
func NextRunID(state Records, now time.Time, random uint16) string {
	next := NewRunID(now, random)
	ids, _ := Runs(state) // without a list, the clock decides
	for _, id := range slices.Backward(ids) {
		if id < next {
			break
		}
		if began, ok := timeOfRun(id); ok && !OpenRun(state, id).Foreign() {
			if after := NewRunID(began.Add(runIDStep), random); after > id {
				return after
			}
		}
	}
	return next
}

// runIDStep leads from the end of a step of the fraction in an id into the next step.
const runIDStep = time.Microsecond

// timeOfRun returns the time in an id, at the end of its step; ok is false for other names.
func timeOfRun(id string) (began time.Time, ok bool) {
	if len(id) != len("20060102-150405-000000") {
		return began, false
	}
	began, err := time.Parse("20060102-150405", id[:15])
	fraction, wrong := strconv.ParseUint(id[16:19], 16, 16)
	return began.Add(time.Duration(fraction+1)*time.Second>>12 - 1), err == nil && wrong == nil && id[15] == '-'
}

// Recorder writes the record of one run: its events as they happen, and the
// logs of broken attempts. It implements Sink.
type Recorder struct {
	dir   string
	state Records
	run   string
	file  *os.File
	buf   *bufio.Writer
	sum   hash.Hash // of the events
	err   error     // of writing an event; nothing is written after it
	adHoc bool      // the run never becomes the latest

	saving sync.Mutex // guards logs, which attempts save concurrently
	sums   sums       // of the other files
	logs   error      // of the logs
}

// NewRecorder creates runs/<run>/ in the project's state directory.
func NewRecorder(state Records, run string) (*Recorder, error) {
	dir := filepath.Join(state.Dir, runsDir, run)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the run record: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("creating the run record: %w", err)
	}
	return &Recorder{dir: dir, state: state, run: run, file: file, buf: bufio.NewWriter(file), sum: sha256.New(), sums: sums{}}, nil
}

// Emit implements Sink. Events of cached nodes are written in blocks; all others immediately, so that a
// crash loses no completed work.
func (r *Recorder) Emit(e Event) {
	if r.err != nil {
		return
	}
	if r.err = writeLine(io.MultiWriter(r.buf, r.sum), e); r.err != nil {
		return
	}
	switch e := e.(type) {
	case RunStart:
		r.adHoc = e.AdHoc
	case NodeDone:
		if e.State == Cached {
			return
		}
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

// SaveLog stores the output of a broken attempt of a node; the last call for a node wins. It is safe for
// concurrent use, unlike the other methods.
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

// logName returns a file name for any address.
func logName(addr string) string {
	sum := sha256.Sum256([]byte(addr))
	return hex.EncodeToString(sum[:12]) + logSuffix
}

// SaveManifest writes which partition files have the run's results, in their order, and the results of tasks.
func (r *Recorder) SaveManifest(partitions []string, tasks json.RawMessage) error {
	content, err := json.MarshalIndent(Manifest{Schema: Schema, Run: r.run, Partitions: partitions, Tasks: tasks}, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dir, ManifestFile), content, 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	r.sums[ManifestFile] = sha256.Sum256(content)
	return nil
}

// Close finishes the record and, unless the run was ad hoc, makes it the latest one.
func (r *Recorder) Close() error {
	err := errors.Join(r.err, r.logs, r.buf.Flush(), r.file.Close())
	if err == nil {
		r.sums[EventsFile] = [sha256.Size]byte(r.sum.Sum(nil))
		err = os.WriteFile(filepath.Join(r.dir, SumsFile), r.sums.encode(r.state.Key, r.run), 0o644)
	}
	if err == nil && !r.adHoc {
		err = atomicfile.WriteDurable(LatestFile(r.state.Dir), 0o644, []byte(r.run+"\n"))
	}
	if err != nil {
		return fmt.Errorf("writing the run record: %w", err)
	}
	return nil
}

// Run is the record of a past run.
type Run struct {
	ID    string
	dir   string
	state Records
}

// ErrNoRuns means that no run has been recorded.
var ErrNoRuns = errors.New("no run has been recorded yet; start one with `fevalgraph run`")

// Runs lists the ids of recorded runs, oldest first.
func Runs(state Records) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(state.Dir, runsDir))
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

// FindRun opens the record of a run, given by its id, a unique part of it, "latest", or "latest~2" for the
// second one before that; "" means "latest".
func FindRun(state Records, name string) (*Run, error) {
	ids, err := Runs(state)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, ErrNoRuns
	}
	if name == "" || name == "latest" {
		return before(state, ids, "0")
	}
	if back, ok := strings.CutPrefix(name, "latest~"); ok {
		return before(state, ids, back)
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
		return nil, fmt.Errorf("unknown run %q; the latest is %s", name, ids[len(ids)-1])
	}
	return nil, fmt.Errorf("%q matches several runs: %s", name, strings.Join(fit, ", "))
}

// before opens the record of the nth run before the latest. Ad hoc runs do not count.
func before(state Records, ids []string, back string) (*Run, error) {
	n, err := strconv.Atoi(back)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("latest~%s: want a number after latest~", back)
	}
	at, left := latest(state, ids), n
	for ; at >= 0 && left > 0; left-- {
		at = regular(state, ids[:at])
	}
	switch {
	case at < 0 && n == 0:
		return nil, ErrNoRuns
	case at < 0:
		return nil, fmt.Errorf("latest~%d: the latest run has %d before it; `fevalgraph runs` lists them", n, n-left-1)
	}
	return OpenRun(state, ids[at]), nil
}

// LatestFile returns the file with the id of the last run that ended.
func LatestFile(state string) string { return filepath.Join(state, latestFile) }

// latest returns the index of the latest run, or -1.
func latest(state Records, ids []string) int {
	content, err := readCapped(LatestFile(state.Dir), 1<<10)
	if at := slices.Index(ids, strings.TrimSpace(string(content))); err == nil && at >= 0 && !OpenRun(state, ids[at]).Foreign() {
		return at
	}
	return regular(state, ids)
}

// regular returns the index of the last run that is neither ad hoc nor foreign, or -1.
func regular(state Records, ids []string) int {
	for at, id := range slices.Backward(ids) {
		run := OpenRun(state, id)
		if start, ok := run.Start(); (!ok || !start.AdHoc) && !run.Foreign() {
			return at
		}
	}
	return -1
}

// OpenRun opens the record of the run with an id, which need not exist.
func OpenRun(state Records, id string) *Run {
	return &Run{ID: id, dir: filepath.Join(state.Dir, runsDir, id), state: state}
}

// open opens a file of the record. It rejects links and devices, which could be endless.
func (r *Run) open(name string) (*os.File, error) {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file: remove it", path)
	}
	return os.Open(path)
}

func (r *Run) readFile(name string) ([]byte, error) {
	file, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, largestFile)
}

func readCapped(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, most)
}

// readAll reads a file of at most most bytes: a foreign file could be larger than memory.
func readAll(file *os.File, most int64) ([]byte, error) {
	info, err := file.Stat()
	if err == nil && info.Size() > most {
		err = fmt.Errorf("%s has %d bytes, more than the expected %d: remove it", file.Name(), info.Size(), most)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// Each calls fn for every event of the run, in order, until it returns false. Lines that do not decode,
// such as a truncated one after a crash, are skipped. It returns a *DamagedError at the end of a file that
// was changed. It returns a *ForeignError, without events, for a record that is not proven. For a record
// without sums, whose run is running or was killed, it yields the events so far.
func (r *Run) Each(fn func(Event) bool) error {
	all, err := r.sums()
	if err != nil {
		return err
	}
	file, err := r.open(EventsFile)
	if err != nil {
		return fmt.Errorf("reading the run record: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	var content io.Reader = io.TeeReader(file, sum)
	if all == nil {
		content = io.LimitReader(file, largestUnproven)
	}
	reader := bufio.NewReaderSize(content, 64<<10)
	for {
		line, err := readLine(reader)
		if e := Decode(line); e != nil && !fn(e) {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return all.check(r, EventsFile, sum.Sum(nil))
		}
		if err != nil {
			return fmt.Errorf("reading the run record: %w", err)
		}
	}
}

// readLine returns the next line, cut to largestEventLine bytes: an event is shorter.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < largestEventLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Node returns the last state of a node in the run, or nil if the run did not include it.
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

// Manifest lists the partition files that have the results of a run.
type Manifest struct {
	Schema     int             `json:"schema"`
	Run        string          `json:"run"`
	Partitions []string        `json:"partitions"`      // digests, 64 hex digits each
	Tasks      json.RawMessage `json:"tasks,omitempty"` // their results, as package report encodes them
}

// Manifest returns the run's manifest. The error is fs.ErrNotExist if the run ended without results, or its
// record has no sums, a *ForeignError if it is not proven, and a *DamagedError if the file was changed.
func (r *Run) Manifest() (*Manifest, error) {
	if all, err := r.sums(); err != nil {
		return nil, err
	} else if all == nil {
		return nil, fmt.Errorf("reading the run record: %w", fs.ErrNotExist)
	}
	return r.manifest(r.read)
}

// Claimed returns the manifest in the record without any proof, to find the partition files that it refers
// to.
func (r *Run) Claimed() (*Manifest, error) { return r.manifest(r.readFile) }

func (r *Run) manifest(read func(name string) ([]byte, error)) (*Manifest, error) {
	content, err := read(ManifestFile)
	if err != nil {
		return nil, fmt.Errorf("reading the run record: %w", err)
	}
	m := new(Manifest)
	if err := json.Unmarshal(content, m); err != nil || m.Schema != Schema {
		return nil, &DamagedError{Run: r.ID, File: ManifestFile}
	}
	return m, nil
}

// Events returns all events of the run, a line each, or a *DamagedError if the file was changed.
func (r *Run) Events() ([]byte, error) { return r.read(EventsFile) }

// Log returns the output of the node's broken attempt in this run, or a *DamagedError if the file was
// changed.
func (r *Run) Log(addr string) ([]byte, error) {
	return r.read(logsDir + "/" + logName(addr))
}

// Decode decodes one line of the stream, or returns nil if this version does not know it.
func Decode(line []byte) Event {
	var head struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(line, &head) != nil {
		return nil
	}
	if decode := decoders[head.Type]; decode != nil {
		return decode(line)
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
