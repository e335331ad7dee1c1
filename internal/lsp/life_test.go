package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

func code(err error) int64 {
	var coded *jsonrpc2.Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return 0
}

func TestLife(t *testing.T) {
	c := dial(t, Options{Project: projectOptions(t)})
	open := map[string]any{"textDocument": map[string]any{"uri": "file:///x/fevalgraph.hcl", "version": 1, "text": "x"}}
	c.notify("textDocument/didOpen", open) // dropped
	if got := code(c.ask("textDocument/hover", c.at("file:///x", Position{}), nil)); got != codeNotInitialized {
		t.Errorf("a request before initialize has the code %d", got)
	}
	c.call("initialize", json.RawMessage(`{"capabilities": {}, "rootUri": null}`), nil)
	c.notify("initialized", struct{}{})
	for method, want := range map[string]int64{"initialize": jsonrpc2.CodeInvalidRequest, "workspace/unknown": jsonrpc2.CodeMethodNotFound} {
		if got := code(c.ask(method, struct{}{}, nil)); got != want {
			t.Errorf("%s has the code %d, want %d", method, got, want)
		}
	}
	if got := code(c.ask("textDocument/hover", []int{1}, nil)); got != jsonrpc2.CodeInvalidParams {
		t.Errorf("wrong parameters have the code %d", got)
	}
	c.notify("$/unknown", struct{}{})
	c.call("shutdown", nil, nil)
	if got := code(c.ask("textDocument/hover", c.at("file:///x", Position{}), nil)); got != jsonrpc2.CodeInvalidRequest {
		t.Errorf("a request after shutdown has the code %d", got)
	}
	c.notify("exit", nil)
	if orderly := <-c.ended; !orderly {
		t.Error("the end was not orderly")
	}
}

func TestUnorderlyEnds(t *testing.T) {
	for name, end := range map[string]func(c *client){
		"exit without shutdown": func(c *client) { c.notify("exit", nil) },
		"the streams end":       func(c *client) { c.conn.Close() },
	} {
		c := start(t, "{}")
		if end(c); <-c.ended {
			t.Errorf("%s: orderly", name)
		}
	}
}

// A panic fails only its request.
func TestPanic(t *testing.T) {
	const method = "test/panic"
	requests[method] = func(context.Context, *server, *snapshot, json.RawMessage) (any, error) { panic("oops") }
	notifications[method] = func(*server, json.RawMessage) error { panic("ouch") }
	t.Cleanup(func() { delete(requests, method); delete(notifications, method) })
	c := start(t, "{}")
	if err := c.ask(method, nil, nil); code(err) != jsonrpc2.CodeInternalError || !strings.Contains(err.Error(), "oops") {
		t.Errorf("got %v", err)
	}
	c.notify(method, nil)
	c.wait("log", func() bool { return len(c.logged) == 1 && strings.Contains(c.logged[0], "ouch") })
	uri := c.open(filepath.Join(writeProject(t, kvstoreFiles()), "fevalgraph.hcl"))
	if found := c.diagnostics(uri); len(found) > 0 {
		t.Error(found)
	}
}

// A request that is cancelled ends with the code for that, and others do not.
func TestCancel(t *testing.T) {
	const method = "test/slow"
	running := make(chan struct{}, 2)
	requests[method] = func(ctx context.Context, _ *server, _ *snapshot, raw json.RawMessage) (any, error) {
		if string(raw) == "\"quick\"" {
			return "done", nil
		}
		running <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	t.Cleanup(func() { delete(requests, method) })
	c := start(t, "{}")
	answered := make(chan error, 1)
	id := jsonrpc2.ID{Str: "slow", IsString: true}
	go func() {
		var result json.RawMessage
		answered <- c.conn.Call(context.Background(), method, "slow", &result, jsonrpc2.PickID(id))
	}()
	<-running
	c.call(method, "quick", nil)
	c.notify("$/cancelRequest", map[string]any{"id": "other"})
	c.notify("$/cancelRequest", map[string]any{"id": id})
	select {
	case err := <-answered:
		if code(err) != codeCancelled {
			t.Errorf("got %v", err)
		}
	case <-time.After(hang):
		t.Fatal("it goes on")
	}
}

// Closing the connection ends requests that run.
func TestEndWhileRunning(t *testing.T) {
	const method = "test/endless"
	running := make(chan struct{}, 1)
	requests[method] = func(ctx context.Context, _ *server, _ *snapshot, _ json.RawMessage) (any, error) {
		running <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	t.Cleanup(func() { delete(requests, method) })
	c := start(t, "{}")
	go func() { _ = c.ask(method, nil, nil) }()
	<-running
	c.conn.Close()
	<-c.ended
}
