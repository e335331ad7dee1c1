package reapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// barn is a real Buildbarn, which scripts/with-buildbarn has started.
type barn struct {
	t        *testing.T
	endpoint string
	state    string
	dir      string
}

const poolA, poolB = "OSFamily=linux,pool=a", "OSFamily=linux,pool=b"

func newBarn(t *testing.T) *barn {
	t.Helper()
	b := &barn{t, os.Getenv("FEVALGRAPH_TEST_BUILDBARN"), os.Getenv("FEVALGRAPH_TEST_BUILDBARN_STATE"), os.Getenv("FEVALGRAPH_TEST_BUILDBARN_DIR")}
	if b.endpoint == "" {
		if os.Getenv("FEVALGRAPH_TEST_REAL") != "" {
			t.Fatal("FEVALGRAPH_TEST_BUILDBARN is not set")
		}
		t.Skip("needs a Buildbarn: make buildbarn")
	}
	return b
}

func (b *barn) client() *reapi.Client { return open(b.t, b.endpoint, b.state) }

// restart kills a daemon and starts it again.
func (b *barn) restart(name string) {
	b.t.Helper()
	if out, err := exec.Command("../scripts/buildbarn", "restart", b.dir, name).CombinedOutput(); err != nil {
		b.t.Fatalf("restart %s: %v\n%s", name, err, out)
	}
}

// run executes a command once that is possible: daemons that were restarted are not ready at once.
func (b *barn) run(c *reapi.Client, a command) *reapi.Executed {
	b.t.Helper()
	var x *reapi.Executed
	err := errors.New("it was not executed")
	if !await.For(func() bool {
		x, err = b.try(c, a)
		return err == nil
	}) {
		b.t.Fatal(err)
	}
	return x
}

// try executes a command once.
func (b *barn) try(c *reapi.Client, a command) (*reapi.Executed, error) {
	action, err := a.send(reapi.NewSender(c))
	if err != nil {
		return nil, err
	}
	return c.Execute(context.Background(), action, reapi.Execution{Platform: a.platform, Timeout: a.timeout, Progress: a.progress})
}

// read returns a blob.
func read(t *testing.T, c *reapi.Client, d *execution.Digest) (content string) {
	t.Helper()
	if d.GetSizeBytes() == 0 {
		return ""
	}
	blob, err := reapi.Parse(d)
	if err == nil {
		err = c.Read(context.Background(), []cache.Digest{blob}, func(_ cache.Digest, r io.Reader) error {
			all, err := io.ReadAll(r)
			content = string(all)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// fresh makes an action of a script that no other test has.
func fresh(script string) string { return fmt.Sprintf("%s # %d", script, time.Now().UnixNano()) }

func TestBuildbarn(t *testing.T) {
	b := newBarn(t)
	ctx := context.Background()
	c := b.client()
	can, err := c.Capabilities(ctx)
	if err != nil || !can.Executes || !can.Updates || can.Version == "" {
		t.Fatalf("%+v, %v", can, err)
	}

	// The second command gets the outputs of the first, which are not transferred here.
	store, u := cache.NewMemory(), reapi.NewSender(c)
	inputs := tree(t, store, 1000, fresh(""))
	if err := u.Outputs(ctx, store, inputs); err != nil {
		t.Fatal(err)
	}
	x := b.run(c, command{script: "mkdir o; cat 00/07 >o/seven; echo told; exit 3", platform: poolA, root: inputs.Digest, outputs: []string{"o"}})
	if x.Result.ExitCode != 3 || read(t, c, x.Result.StdoutDigest) != "told\n" || len(x.Result.OutputDirectories) != 1 {
		t.Fatalf("%+v", x.Result)
	}
	made, err := reapi.Parse(x.Result.OutputDirectories[0].RootDirectoryDigest)
	if err != nil {
		t.Fatal(err)
	}
	x = b.run(c, command{script: "cat seven", platform: poolB, root: made})
	if got := read(t, c, x.Result.StdoutDigest); !strings.HasPrefix(got, strings.Repeat("0", 90)) || !strings.HasPrefix(got[98:], "7") {
		t.Errorf("%q", got)
	}

	var none *reapi.NoWorkersError
	if _, err := b.try(c, command{script: "true", platform: "OSFamily=linux,pool=c"}); !errors.As(err, &none) || !strings.Contains(err.Error(), "OSFamily=linux,pool=c") {
		t.Errorf("no workers: %v", err)
	}
	var missing *reapi.MissingError
	absent, _ := cache.BuildTree([]cache.Entry{{Path: "absent", Digest: cache.SumBytes([]byte(fresh("absent")))}})
	if err := absent.Store(ctx, store); err != nil {
		t.Fatal(err)
	}
	if err := u.Blobs(ctx, store, absent.Root); err != nil {
		t.Fatal(err)
	}
	if _, err := b.try(c, command{script: "true", platform: poolA, root: absent.Root}); !errors.As(err, &missing) || len(missing.Blobs) != 1 {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := b.try(c, command{script: "true", platform: poolA, root: cache.SumBytes([]byte("no directory"))}); !errors.As(err, &missing) {
		t.Errorf("a missing directory: %v", err)
	}

	x, err = b.try(c, command{script: fresh("echo until then; sleep 600"), platform: poolA, timeout: time.Second})
	if err != nil || !x.TimedOut || read(t, c, x.Result.StdoutDigest) != "until then\n" {
		t.Errorf("timeout: %+v, %v", x, err)
	}
}

// TestBuildbarnResults: the engine stores only successful results, including those of clients.
func TestBuildbarnResults(t *testing.T) {
	b := newBarn(t)
	ctx := context.Background()
	c := b.client()
	action := command{script: fresh("exit 1"), platform: poolA, shared: true}.upload(t, reapi.NewSender(c))
	x, err := c.Execute(ctx, action, reapi.Execution{})
	if err != nil || x.Result.ExitCode != 1 {
		t.Fatal(x, err)
	}
	if r, err := c.ActionResult(ctx, action); r != nil || err != nil {
		t.Errorf("%v, %v", r, err)
	}
	if err := c.PutActionResult(ctx, action, x.Result); err != nil {
		t.Fatal(err)
	}
	if r, err := c.ActionResult(ctx, action); err != nil || r.GetExitCode() != 1 {
		t.Errorf("%v, %v", r, err)
	}
}

// TestBuildbarnCut: a connection that breaks costs no work.
func TestBuildbarnCut(t *testing.T) {
	b := newBarn(t)
	p := newProxy(t, b.endpoint)
	c := open(t, p.address, "")
	ran := t.TempDir()
	for dir := ran; dir != os.TempDir(); dir = filepath.Dir(dir) { // actions run as another user
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf("echo >>%[1]s/begun; while ! test -e %[1]s/end; do sleep 0.05; done; exit 5", ran)
	result := make(chan error, 1)
	var known atomic.Bool // the client has the operation's name, without which no stream can be resumed
	go func() {
		x, err := b.try(c, command{script: script, platform: poolB, progress: func(execution.ExecutionStage_Value) { known.Store(true) }})
		if err == nil && x.Result.ExitCode != 5 {
			err = fmt.Errorf("exit %d", x.Result.ExitCode)
		}
		result <- err
	}()
	for range 3 {
		await.Until(t, "the action runs, and is waited for", func() bool {
			_, err := os.Stat(ran + "/begun")
			return err == nil && known.Load() && p.open() > 0
		})
		p.cut()
	}
	if err := os.WriteFile(ran+"/end", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if begun, _ := os.ReadFile(ran + "/begun"); len(begun) != 1 {
		t.Errorf("it ran %d times", len(begun))
	}
}

// TestBuildbarnKill: who stops waiting kills, and others who wait for the same action learn it.
func TestBuildbarnKill(t *testing.T) {
	b := newBarn(t)
	mine, theirs := b.client(), b.client()
	action := command{script: fresh("sleep 600"), platform: poolA, shared: true}.upload(t, reapi.NewSender(mine))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	waiting := make(chan struct{}, 8)
	other := make(chan error, 1)
	go func() {
		_, err := theirs.Execute(context.Background(), action, reapi.Execution{Progress: func(execution.ExecutionStage_Value) { waiting <- struct{}{} }})
		other <- err
	}()
	<-waiting
	_, err := mine.Execute(ctx, action, reapi.Execution{Progress: func(execution.ExecutionStage_Value) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var lost *reapi.LostError
	if err := <-other; !errors.As(err, &lost) || !strings.Contains(err.Error(), "canceled by the client") {
		t.Error(err)
	}
}

// TestBuildbarnLost: a daemon that is lost during an action does not give it a result.
func TestBuildbarnLost(t *testing.T) {
	b := newBarn(t)
	c := b.client()
	for _, daemon := range []string{"runner-a", "scheduler", "storage"} {
		result := make(chan error, 1)
		action := command{script: fresh("sleep 600"), platform: poolA}
		x := b.run(c, command{script: fresh("true"), platform: poolA}) // it is ready
		if x.Result.ExitCode != 0 {
			t.Fatal(x.Result)
		}
		began := make(chan struct{}, 8)
		digest := action.upload(t, reapi.NewSender(c))
		go func() {
			_, err := c.Execute(context.Background(), digest, reapi.Execution{Progress: func(execution.ExecutionStage_Value) { began <- struct{}{} }})
			result <- err
		}()
		<-began
		if daemon == "storage" {
			// it ends in some way, but its action is not looked up in the lost storage
			b.restart(daemon)
			if r, err := c.ActionResult(context.Background(), digest); err == nil && r != nil {
				t.Errorf("%v", r)
			}
			b.restart("runner-a")
		} else {
			b.restart(daemon)
		}
		var lost *reapi.LostError
		if err := <-result; !errors.As(err, &lost) {
			t.Errorf("%s: %v", daemon, err)
		}
	}
	b.run(c, command{script: fresh("true"), platform: poolA})
	b.run(c, command{script: fresh("true"), platform: poolB})
}

// proxy forwards connections until it cuts them.
type proxy struct {
	address string
	mu      sync.Mutex
	conns   map[net.Conn]bool
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		p.cut()
	})
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			p.mu.Lock()
			p.conns[near], p.conns[far] = true, true
			p.mu.Unlock()
			go p.pass(near, far)
			go p.pass(far, near)
		}
	}()
	return p
}

func (p *proxy) pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range []net.Conn{to, from} {
		c.Close()
		delete(p.conns, c)
	}
}

// open is the number of connections, counted at both ends.
func (p *proxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
		delete(p.conns, c)
	}
}
