package mcp

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

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
			t.Errorf("%s may write", tool.Name)
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
