package mcp

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect returns a client of a server whose commands print their arguments.
func connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.WithoutCancel(t.Context()), fromClient, toClient, Options{Version: "1", Call: func(_ context.Context, args []string) (string, bool) {
			return strings.Join(args, "|") + strings.Repeat("x", most)[:len(args)/5*most], !slices.Contains(args, "wrong")
		}})
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return s
}

func TestServe(t *testing.T) {
	s := connect(t)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(tools) {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, tool := range list.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s can write", tool.Name)
		}
	}
	for _, try := range []struct {
		tool      string
		arguments map[string]any
		want      string
		isError   bool
	}{
		{"plan", nil, "plan|--json|--", false},
		{"plan", map[string]any{"selectors": []string{"problem=a"}}, "plan|--json|--|problem=a", false},
		{"explain", map[string]any{"node": "--trust"}, "explain|--json|--|--trust", false},
		{"explain", map[string]any{"node": "wrong"}, "explain|--json|--|wrong", true},
		{"diff", map[string]any{"after": "now"}, "diff|--format|json|--", false},
		{"log", map[string]any{"node": "a/b"}, "log|--|a/b", false},
		{"plan", map[string]any{"selectors": []string{"a", "b"}}, "use selectors for less", false},
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: try.tool, Arguments: try.arguments})
		if err != nil {
			t.Errorf("%s %v: %v", try.tool, try.arguments, err)
			continue
		}
		if said := r.Content[0].(*mcp.TextContent).Text; !strings.Contains(said, try.want) || r.IsError != try.isError || len(said) > most+100 {
			t.Errorf("%s %v: %.200s, error %v", try.tool, try.arguments, said, r.IsError)
		}
	}
	for _, bad := range []map[string]any{nil, {"node": 3}} {
		if r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "explain", Arguments: bad}); err == nil && !r.IsError {
			t.Errorf("%v is answered with %+v", bad, r.Content)
		}
	}
}

// An agent that sends requests, closes the input and reads gets its answers.
func TestInputEnds(t *testing.T) {
	asked := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plan","arguments":{}}}
`
	var said strings.Builder
	err := Serve(t.Context(), io.NopCloser(strings.NewReader(asked)), written{&said}, Options{Call: func(context.Context, []string) (string, bool) {
		time.Sleep(50 * time.Millisecond)
		return "planned", true
	}})
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{`"id":1`, `"id":2`, `"id":3`, "planned"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %s in %.2000s", want, said.String())
		}
	}
}

type written struct{ io.Writer }

func (written) Close() error { return nil }
