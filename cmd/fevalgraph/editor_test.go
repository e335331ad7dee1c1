//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/fevalgraph/fevalgraph/internal/testkit/coverdir"
)

// editorCommand runs an editor that opens a file, waits for the language server's diagnostics, makes one request at a
// position (line and column from 1), and ends the server. It writes the answer to answer.json, and all diagnostics to
// diagnostics.json.
func editorCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "METHOD FILE [LINE COLUMN]"); err != nil {
		return err
	}
	e := &editor{published: map[string]any{}, said: make(chan struct{}, 100)}
	at := map[string]int{}
	if len(args) == 4 {
		for i, name := range []string{"line", "character"} {
			n, err := strconv.Atoi(args[2+i])
			if err != nil {
				return err
			}
			at[name] = n - 1
		}
	}
	cmd := exec.Command(ts.Getenv("FEVALGRAPH"), "lsp", "--stdio")
	cmd.Dir, cmd.Env = ts.MkAbs("."), coverdir.Env()
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "FEVALGRAPH_CACHE_DIR", "FEVALGRAPH_ISOLATION", "FEVALGRAPH_TRUST"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	answer, err := e.converse(cmd, args[0], ts.MkAbs(args[1]), at)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	all := []any{}
	for _, uri := range slices.Sorted(maps.Keys(e.published)) {
		all = append(all, e.published[uri])
	}
	diagnostics, err := json.Marshal(all)
	return errors.Join(err, os.WriteFile(ts.MkAbs("answer.json"), answer, 0o644), os.WriteFile(ts.MkAbs("diagnostics.json"), diagnostics, 0o644))
}

type editor struct {
	mu        sync.Mutex
	published map[string]any // by URI
	said      chan struct{}
}

func (e *editor) converse(cmd *exec.Cmd, method, file string, at map[string]int) (answer json.RawMessage, err error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	stream := jsonrpc2.NewBufferedStream(struct {
		io.Reader
		io.WriteCloser
	}{out, in}, jsonrpc2.VSCodeObjectCodec{})
	conn := jsonrpc2.NewConn(ctx, stream, e)
	answer, err = e.ask(ctx, conn, method, file, at)
	err = errors.Join(err, conn.Call(ctx, "shutdown", nil, nil), conn.Notify(ctx, "exit", nil))
	<-conn.DisconnectNotify() // all that the server wrote is read
	if err := errors.Join(err, cmd.Wait()); err != nil || complaints.Len() > 0 {
		return nil, fmt.Errorf("%v; the server printed %q", err, complaints.String())
	}
	return answer, nil
}

func (e *editor) ask(ctx context.Context, conn *jsonrpc2.Conn, method, file string, at map[string]int) (answer json.RawMessage, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	uri := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	err = errors.Join(
		conn.Call(ctx, "initialize", struct{}{}, nil),
		conn.Notify(ctx, "initialized", struct{}{}),
		conn.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "hcl", "version": 1, "text": string(text)}}),
	)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.said:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	err = conn.Call(ctx, method, map[string]any{"textDocument": map[string]any{"uri": uri}, "position": at}, &answer)
	return answer, err
}

// Handle implements jsonrpc2.Handler.
func (e *editor) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	switch r.Method {
	case "textDocument/publishDiagnostics":
		var p map[string]any
		if json.Unmarshal(*r.Params, &p) == nil {
			e.mu.Lock()
			e.published[p["uri"].(string)] = p
			e.mu.Unlock()
			e.said <- struct{}{}
		}
	}
	if !r.Notif {
		go func() { _ = conn.Reply(ctx, r.ID, nil) }()
	}
}
