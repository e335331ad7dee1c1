package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Names of contenders.
const (
	remoteStore = "remote cache"
	localStore  = "local store"
)

// compareRemote measures a run without changes and without a state directory. Either the store has all results,
// or it is empty and a bazel-remote with a latency has them.
func compareRemote(o options) (_ *figures, err error) {
	if o.bazelRemote == "" {
		return nil, errors.New("-case remote needs -bazel-remote PROGRAM, such as .tools/bin/bazel-remote")
	}
	p, err := openProject(o)
	if err != nil {
		return nil, err
	}
	r := &remoteCase{project: p, jobs: fmt.Sprint("-j", o.jobs)}
	if r.dir, err = os.MkdirTemp(o.work, "remote-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	end, err := r.serve(o)
	if err != nil {
		return nil, err
	}
	defer end()
	key := filepath.Join(r.dir, "key")
	public, err := exec.Command(filepath.Join(p.bin, "fevalgraph"), "keygen", "-o", key).Output()
	if err != nil {
		return nil, fmt.Errorf("keygen: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "fevalgraph.hcl"))
	if err != nil {
		return nil, err
	}
	text = fmt.Appendf(text, "variable \"url\" {}\nfevalgraph {\n  cache {\n    remote \"team\" {\n      url   = var.url\n      trust = [%q]\n    }\n  }\n}\n", strings.TrimSpace(string(public)))
	if err := os.WriteFile(filepath.Join(p.dir, "remote.hcl"), text, 0o644); err != nil {
		return nil, err
	}
	took, _, err := command(p.dir, append(r.environ("filled", r.near), "FEVALGRAPH_SIGNING_KEY="+key), r.program(), "run", "-f", "remote.hcl", r.jobs)
	if err != nil {
		return nil, err
	}
	fmt.Printf("first run, with all results sent: %.2fs\n", took.Seconds())
	f := &figures{name: o.name, nodes: p.nodes(), what: fmt.Sprintf("%s, %v to the cache and back", p.shape, o.latency)}
	f.contenders = []*contender{
		{name: remoteStore, run: func(int) (time.Duration, *syscall.Rusage, error) { return r.run("empty", r.far, "team:r") }},
		{name: localStore, run: func(int) (time.Duration, *syscall.Rusage, error) { return r.run("filled", r.near, "local:rw") }},
	}
	return f, f.measure(o.runs, nil)
}

// remoteCase is a project with a server.
type remoteCase struct {
	*project
	dir, jobs string
	near, far string // addresses of the server: directly, and with latency
}

func (r *remoteCase) program() string { return filepath.Join(r.bin, "fevalgraph") }

// environ returns the environment of a run with a named store.
func (r *remoteCase) environ(store, address string) []string {
	return append(r.project.environ(), "FEVALGRAPH_CACHE_DIR="+filepath.Join(r.dir, store), "FEVALGRAPH_DIR="+filepath.Join(r.dir, "state"), "FEVALGRAPH_VAR_url=grpc://"+address)
}

// run runs without a state directory, with a named store and caches.
func (r *remoteCase) run(store, address, caches string) (time.Duration, *syscall.Rusage, error) {
	gone := []string{"state"}
	if store == "empty" {
		gone = append(gone, store)
	}
	for _, dir := range gone {
		if err := os.RemoveAll(filepath.Join(r.dir, dir)); err != nil {
			return 0, nil, err
		}
	}
	took, usage, err := command(r.project.dir, r.environ(store, address), r.program(), "run", "-f", "remote.hcl", "--cache", caches, "--progress", "none", r.jobs)
	return took, usage, err
}

// serve starts the server, and a proxy that adds latency.
func (r *remoteCase) serve(o options) (end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.near = listener.Addr().String()
	listener.Close()
	server := exec.Command(o.bazelRemote, "--dir", filepath.Join(r.dir, "server"), "--max_size", "20", "--access_log_level", "none", "--grpc_address", r.near, "--http_address", "unix://"+filepath.Join(r.dir, "http"))
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", r.near)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			return nil, err
		}
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.far = front.Addr().String()
	go delay(front, r.near, o.latency/2)
	return func() {
		front.Close()
		_ = server.Process.Kill()
		_ = server.Wait()
	}, nil
}

// delay forwards connections, and delivers bytes after a delay.
func delay(front net.Listener, to string, by time.Duration) {
	for {
		from, err := front.Accept()
		if err != nil {
			return
		}
		back, err := net.Dial("tcp", to)
		if err != nil {
			from.Close()
			continue
		}
		go forward(back, from, by)
		go forward(from, back, by)
	}
}

func forward(to, from net.Conn, by time.Duration) {
	type piece struct {
		at      time.Time
		content []byte
	}
	pieces := make(chan piece, 1<<14)
	go func() {
		defer close(pieces)
		for {
			content := make([]byte, 32<<10)
			n, err := from.Read(content)
			if n > 0 {
				pieces <- piece{time.Now().Add(by), content[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.content); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
}
