package gojudge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/capped"
)

// Process configures a server that is started for the run.
type Process struct {
	Binary      string // name to look up in Path, or an absolute path
	Path        string // list of directories, as in PATH
	Parallelism int    // concurrent requests; 0 means the number of processors
	// Scratch is the directory below which its files are created; it is created if missing. "" means the
	// system's directory for temporary files.
	Scratch string
	// Registry lists the server before it exists; nil means it is not listed.
	Registry *backend.Registry
	// Rlimits accepts a server without control groups: memory is then limited for each process, and the number
	// of processes is not limited.
	Rlimits bool
}

// binaryHint is the hint in the error for a missing go-judge.
const binaryHint = "build it: go install -tags seccomp github.com/criyle/go-judge/cmd/go-judge@latest; then set binary, or endpoint to a running server"

// find returns the program's absolute path.
func (o *Process) find() (string, error) {
	fail := func(err error) (string, error) {
		return "", &backend.ToolError{Tool: o.Binary, Err: err, Hint: binaryHint}
	}
	candidates := []string{o.Binary}
	if !filepath.IsAbs(o.Binary) {
		candidates = nil
		if filepath.Base(o.Binary) != o.Binary {
			return fail(errors.New("neither a name nor an absolute path"))
		}
		for _, dir := range filepath.SplitList(o.Path) {
			if filepath.IsAbs(dir) {
				candidates = append(candidates, filepath.Join(dir, o.Binary))
			}
		}
	}
	for _, c := range candidates {
		info, err := os.Stat(c)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return c, nil
		}
		if filepath.IsAbs(o.Binary) && err == nil {
			return fail(errors.New("not an executable file"))
		}
	}
	if filepath.IsAbs(o.Binary) {
		return fail(errors.New("not found"))
	}
	return fail(errors.New("not found in PATH"))
}

// Start returns a server that is started on first use, and again if it ended by itself. Blobs come from
// store.
func Start(store cache.Store, o Process) *Server {
	s := newServer(o.Binary)
	s.opt = &o
	s.connect = func(ctx context.Context) (*connection, error) { return o.start(ctx, store) }
	return s
}

// process is a running server that this run started.
type process struct {
	opt    *Process
	id     string
	base   string // its directory
	output *capped.Buffer
	cmd    *exec.Cmd
	ended  chan struct{} // closed when it has ended
	err    error         // of its end
	listed bool
}

// running reports whether the server is running. It returns true for a nil process, a server that this run
// did not start.
func (p *process) running() bool {
	if p == nil {
		return true
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Limits on how long a server can take to answer after its start, and to end.
const (
	startPatience = 2 * time.Minute
	stopPatience  = 3 * time.Second
	// endPatience limits how long after an error the server's end can be noticed.
	endPatience = 300 * time.Millisecond
)

// errPortTaken means that another process took the port first.
var errPortTaken = errors.New("its port is in use")

// ports is the number of ports that are tried.
const ports = 5

func (o *Process) start(ctx context.Context, store cache.Store) (*connection, error) {
	binary, err := o.find()
	if err != nil {
		return nil, err
	}
	if err := checkSupported(); err != nil {
		return nil, err
	}
	for range ports {
		var c *connection
		if c, err = o.startOnce(ctx, binary, store); !errors.Is(err, errPortTaken) {
			return c, err
		}
	}
	return nil, err
}

func (o *Process) startOnce(ctx context.Context, binary string, store cache.Store) (*connection, error) {
	p := &process{opt: o, id: "fevalgraph-" + strings.ToLower(rand.Text()[:16]), ended: make(chan struct{}),
		output: &capped.Buffer{Head: 16 << 10, Tail: 48 << 10}}
	scratch, err := workspace.Scratch(o.Scratch)
	if err != nil {
		return nil, err
	}
	p.base = filepath.Join(scratch, p.id)
	if o.Registry != nil {
		e := backend.Entry{ID: p.id, Kind: Kind, Name: "go-judge", Workspace: p.base, Cookie: p.id, Opened: time.Now()}
		if err := o.Registry.Add(e); err != nil {
			return nil, err
		}
		p.listed = true
	}
	c, err := p.launch(ctx, binary, store)
	if err != nil {
		if left := p.stop(); left != nil {
			err = errors.Join(err, left)
		}
		return nil, err
	}
	return c, nil
}

// launch starts the program and waits until it answers.
func (p *process) launch(ctx context.Context, binary string, store cache.Store) (*connection, error) {
	src, files, tmp := filepath.Join(p.base, "src"), filepath.Join(p.base, "files"), filepath.Join(p.base, "tmp")
	for _, dir := range []string{p.base, src, files, tmp} { // the name is random, so none exists
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(p.base, seccompFile), []byte(seccompPolicy), 0o600); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	parallelism := p.opt.Parallelism
	if parallelism == 0 {
		parallelism = runtime.NumCPU()
	}
	p.cmd = exec.Command(binary,
		"-http-addr", address, "-cgroup-prefix", p.id, "-no-fallback="+strconv.FormatBool(!p.opt.Rlimits), "-src-prefix", src, "-dir", files,
		"-parallelism", strconv.Itoa(parallelism),
		// Creating a container while a program is written causes errBusy. Two for each request, because of pairs.
		"-pre-fork", strconv.Itoa(2*parallelism),
		// Ends programs at a limit sooner than the default of 100ms.
		"-time-limit-checker-interval", "20ms",
		// As root, programs run as unused users, and otherwise as the caller.
		"-container-cred-start", strconv.Itoa(programUsers),
		"-tmp-fs-param", fmt.Sprintf("size=%d,nr_inodes=4k", directoryRoom),
		"-file-timeout", "30m", "-release")
	p.cmd.Dir = p.base // it looks for mount.yaml and seccomp.yaml there
	p.cmd.Env = []string{"PATH=" + p.opt.Path, "TMPDIR=" + tmp, "ES_AUTH_TOKEN=" + token}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = write, write
	err = p.run()
	write.Close()
	if err != nil {
		read.Close()
		return nil, &backend.ToolError{Tool: binary, Err: err, Hint: binaryHint}
	}
	go p.listen(read)
	c := &connection{client: newClient("http://"+address, token), name: p.opt.Binary, store: store, dir: files, process: p}
	m := mirror{dir: src, disown: os.Geteuid() == 0}
	c.destination, c.sealed, c.uploader = m, m.disown, newUploader(m, store, mirrorRoom)
	if c.about, err = p.await(ctx, c); err != nil {
		c.client.close()
		return nil, err
	}
	weigh(p.id, parallelism)
	return c, nil
}

// run starts the program on a thread that lives as long as the program. If the system supports it, the
// program ends with the thread. It inherits the restrictions of confine.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this
		tie(p.cmd)
		err := confine()
		if err == nil {
			err = p.cmd.Start()
		}
		if err != nil {
			close(p.ended)
			started <- err
			return
		}
		started <- nil
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return <-started
}

// listen keeps the server's output, except the line about each request.
func (p *process) listen(from io.ReadCloser) {
	defer from.Close()
	lines := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if !bytes.Contains(line, []byte(`"status":200`)) {
			p.output.Write(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// await waits until this server answers at the address.
func (p *process) await(ctx context.Context, c *connection) (*wireVersion, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		v, err := c.version(ctx)
		if err == nil {
			var dir string
			if dir, err = c.fileStore(ctx); err == nil && dir == c.dir {
				return v, nil
			}
		}
		select {
		case <-p.ended:
			return nil, p.startFailure()
		case <-ctx.Done():
			return nil, fmt.Errorf("it did not answer within %v: %w", startPatience, err)
		case <-time.After(wait):
		}
	}
}

// startFailure returns why the server ended instead of answering.
func (p *process) startFailure() error {
	said := p.words()
	switch {
	case strings.Contains(said, "address already in use"):
		return errPortTaken
	case strings.Contains(said, "cgroup") && (strings.Contains(said, "permission denied") || strings.Contains(said, "read-only file system")):
		return &backend.ToolError{Tool: p.opt.Binary, Err: fmt.Errorf("it cannot create control groups: %s", said),
			Hint: "run as root, make control groups writable, or set endpoint to a go-judge that runs elsewhere"}
	case os.Geteuid() != 0:
		return &backend.ToolError{Tool: p.opt.Binary, Err: fmt.Errorf("it did not start: %s", said),
			Hint: "run as root, or set endpoint to a go-judge that runs elsewhere"}
	}
	return &backend.ToolError{Tool: p.opt.Binary, Err: fmt.Errorf("it did not start (%v): %s", p.err, said)}
}

// words returns the last lines that the server printed, without those that only its authors understand.
func (p *process) words() string {
	time.Sleep(10 * time.Millisecond) // its last output may still be in transit
	var words []string
	for line := range strings.Lines(string(p.output.Bytes())) {
		var entry struct{ Level, Msg, Error string }
		line = strings.TrimSpace(line)
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg != "" {
			if entry.Level == "info" || entry.Level == "debug" {
				continue
			}
			line = strings.TrimSpace(entry.Msg)
			if entry.Error != "" {
				line += ": " + entry.Error
			}
		}
		if line != "" {
			words = append(words, line)
		}
	}
	const last = 5
	if len(words) == 0 {
		return "it printed nothing"
	}
	return strings.Join(words[max(0, len(words)-last):], "; ")
}

// reason adds the end of the server to an error that it caused.
func (p *process) reason(err error) error {
	var gone *unreachable
	if p == nil || !errors.As(err, &gone) {
		return err
	}
	select {
	case <-p.ended:
		return fmt.Errorf("it ended during a request (%v), %s: %w", p.cmd.ProcessState, p.words(), err)
	case <-time.After(endPatience):
		return err
	}
}

// stop ends the server and removes its files. It is idempotent.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	if p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Process.Signal(os.Interrupt)
		select {
		case <-p.ended:
		case <-time.After(stopPatience):
			p.cmd.Process.Kill()
			<-p.ended
		}
	}
	err := errors.Join(removeGroups(p.id), os.RemoveAll(p.base))
	if err != nil {
		return fmt.Errorf("ending go-judge: %w", err) // stays listed, for the next start
	}
	if !p.listed {
		return nil
	}
	p.listed = false
	return p.opt.Registry.Remove(p.id)
}

// freeAddress returns an address of this machine at which no process listens at the moment.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
