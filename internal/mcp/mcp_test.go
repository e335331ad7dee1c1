package mcp

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
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
		quotes := try.tool == "diff" || try.tool == "log"
		if marked := len(r.Content) == 2 && r.Content[1].(*mcp.TextContent).Text == untrusted; marked != quotes {
			t.Errorf("%s: the answer is marked as quoting submissions: %v, want %v", try.tool, marked, quotes)
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

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// A line that is not a message gets an error, and the conversation goes on.
func TestBadLines(t *testing.T) {
	for _, try := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":7,"method":`, `null -32700`},
		{`nonsense`, `null -32700`},
		{`"`, `null -32700`},
		{"\ufeff" + `{"jsonrpc":"2.0","id":7,"method":"ping"}`, `null -32700`},
		{`{"jsonrpc":"2.0","id":7,"method":"ping"}{}`, `null -32700`},
		{`"` + strings.Repeat("x", maxLine) + `"`, `null -32600`},
		{`{"id":7,"method":"ping"}`, `7 -32600`},
		{`{"jsonrpc":"1.0","id":"a","method":"ping"}`, `"a" -32600`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `null -32600`},
		{`{"jsonrpc":"2.0","id":7,"method":3}`, `7 -32600`},
		{`{"jsonrpc":"2.0"}`, `null -32600`},
		{`3`, `null -32600`},
		{`null`, `null -32600`},
		{`[]`, `null -32600`},
		{`[3, {"jsonrpc":"2.0","id":7,"method":"ping"}]`, "null -32600\n7 {}"},
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, `7 -32601`},
		{`{"jsonrpc":"2.0","id":7,"method":""}`, `7 -32601`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"x"}`, `7 -32602`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no such"}}`, `7 -32602`},
		{`{"jsonrpc":"2.0","method":"no/such"}`, ``},
		{`{"jsonrpc":"2.0","id":7,"result":{}}`, ``},
		{``, ``},
		{"\r", ``},
	} {
		said := &strings.Builder{}
		err := Serve(t.Context(), io.NopCloser(strings.NewReader(initialize+try.line+"\n"+`{"jsonrpc":"2.0","id":9,"method":"ping"}`+"\n")), written{said}, Options{})
		if err != nil {
			t.Errorf("%.80s: %v", try.line, err)
		}
		answers := answersIn(t, said.String())
		others := slices.DeleteFunc(slices.Clone(answers), func(a string) bool { return a == "9 {}" || strings.HasPrefix(a, `1 {"capabilities"`) })
		if len(answers)-len(others) != 2 {
			t.Errorf("%.80s: %q", try.line, answers)
		}
		slices.Sort(others)
		answers = others
		want := strings.Split(try.want, "\n")
		slices.Sort(want)
		if strings.Join(answers, "\n") != strings.Join(want, "\n") {
			t.Errorf("%.80s: %q, want %q", try.line, answers, want)
		}
	}
}

// answersIn returns the ID of each answer with its result or the code of its error, and fails for notifications.
func answersIn(t *testing.T, said string) (answers []string) {
	for line := range strings.Lines(said) {
		var a struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  *struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Method != "" || len(a.ID) == 0 {
			t.Errorf("answered with %.200s", line)
		}
		what := string(a.Result)
		if a.Error != nil {
			what = strconv.Itoa(a.Error.Code)
		}
		answers = append(answers, string(a.ID)+" "+what)
	}
	return answers
}

// Nothing is sent without a request, even if an agent never initializes.
func TestBeforeInitialize(t *testing.T) {
	said := &strings.Builder{}
	in, agent := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), in, written{said}, Options{}) }()
	io.WriteString(agent, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	agent.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if answers := answersIn(t, said.String()); !slices.Equal(answers, []string{"1 {}"}) {
		t.Errorf("%q", answers)
	}
}

type written struct{ io.Writer }

func (written) Close() error { return nil }
