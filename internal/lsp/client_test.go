package lsp

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	backends "github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/compat"
	"github.com/fevalgraph/fevalgraph/eval"
)

// hang is the time limit of a test.
const hang = 2 * time.Minute

// client is an editor with few capabilities: it applies edits with separate code and remembers published diagnostics.
type client struct {
	t     testing.TB
	conn  *jsonrpc2.Conn
	ended chan bool // result of Serve

	mu        sync.Mutex
	changed   *sync.Cond
	published map[string]publishDiagnostics
	logged    []string

	texts    map[string]string
	versions map[string]int
}

// projectOptions returns the options of the program.
func projectOptions(t testing.TB) eval.Options {
	cache := t.TempDir()
	env := map[string]string{"FEVALGRAPH_CACHE_DIR": cache, "XDG_STATE_HOME": cache, "HOME": cache}
	return eval.Options{Version: "0.1.0", Benchmarks: compat.Benchmarks(), Kinds: backends.All(), LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

// dial starts a server and an uninitialized client.
func dial(t testing.TB, o Options) *client {
	t.Helper()
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{t: t, ended: make(chan bool, 1), published: map[string]publishDiagnostics{}, texts: map[string]string{}, versions: map[string]int{}}
	c.changed = sync.NewCond(&c.mu)
	go func() { c.ended <- Serve(ctx, there, o) }()
	c.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.AsyncHandler(handlerFunc(c.hear)), jsonrpc2.SetLogger(silent{}))
	t.Cleanup(func() {
		cancel()
		<-c.conn.DisconnectNotify()
	})
	return c
}

// start returns a client of an initialized server.
func start(t testing.TB, capabilities string) *client {
	t.Helper()
	c := dial(t, Options{Project: projectOptions(t), Pause: time.Millisecond})
	c.call("initialize", json.RawMessage(`{"capabilities": `+capabilities+`}`), nil)
	c.notify("initialized", struct{}{})
	return c
}

func (c *client) hear(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.Method {
	case "textDocument/publishDiagnostics":
		var p publishDiagnostics
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			c.t.Error(err)
		}
		if last := c.published[p.URI]; last.Version == nil || p.Version == nil || *p.Version >= *last.Version {
			c.published[p.URI] = p
		}
	case "window/logMessage":
		c.logged = append(c.logged, string(*r.Params))
	}
	c.changed.Broadcast()
	if !r.Notif {
		_ = conn.Reply(ctx, r.ID, nil)
	}
}

// wait waits until a condition on what was heard holds.
func (c *client) wait(what string, holds func() bool) {
	c.t.Helper()
	late := time.AfterFunc(hang, func() { c.changed.Broadcast() })
	defer late.Stop()
	began := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !holds() {
		if time.Since(began) >= hang {
			c.t.Fatalf("no %s", what)
		}
		c.changed.Wait()
	}
}

func (c *client) ask(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	var raw json.RawMessage
	if err := c.conn.Call(ctx, method, params, &raw); err != nil {
		return err
	}
	if result == nil || len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return json.Unmarshal(raw, result)
}

func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if err := c.ask(method, params, result); err != nil {
		c.t.Fatalf("%s %v: %v", method, params, err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(context.Background(), method, params); err != nil && err != io.ErrClosedPipe {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// open opens a file as it is on disk.
func (c *client) open(path string) (uri string) {
	c.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.openText(path, string(text))
}

func (c *client) openText(path, text string) (uri string) {
	c.t.Helper()
	uri = uriOf(path)
	c.texts[uri], c.versions[uri] = text, c.versions[uri]+1
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "hcl", "version": c.versions[uri], "text": text}})
	return uri
}

// edit replaces a range of an open text.
func (c *client) edit(uri string, r Range, with string) {
	c.t.Helper()
	c.texts[uri] = applied(c.texts[uri], []textEdit{{r, with}})
	c.versions[uri]++
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": c.versions[uri]}, "contentChanges": []any{map[string]any{"range": r, "text": with}}})
}

// diagnostics returns the diagnostics of an open file's current text.
func (c *client) diagnostics(uri string) []diagnostic {
	c.t.Helper()
	version := c.versions[uri]
	c.wait("diagnostics", func() bool { p := c.published[uri]; return p.Version != nil && *p.Version == version })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published[uri].Diagnostics
}

func (c *client) at(uri string, p Position) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": p}
}
