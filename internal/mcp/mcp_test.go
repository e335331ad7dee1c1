package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// schema is a schema of any object, in the form of several.
func schema(string) json.RawMessage { return json.RawMessage(`{"anyOf": [{"type": "object"}]}`) }

// connect returns a client of a server whose commands print their arguments. User answers the server's questions; nil
// means that the agent cannot ask.
func connect(t *testing.T, user func(question string) (action string)) *mcp.ClientSession {
	t.Helper()
	var options mcp.ClientOptions
	if user != nil {
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: user(r.Params.Message)}, nil
		}
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.WithoutCancel(t.Context()), fromClient, toClient, Options{Version: "1", Schema: schema, Call: func(_ context.Context, args []string) (string, bool) {
			said := strings.Join(args, "|") + strings.Repeat("x", most)[:len(args)/5*most]
			if slices.Contains(args, "--json") || slices.Contains(args, "json") {
				said = `{"args":"` + said + `"}`
			}
			return said, !slices.Contains(args, "wrong")
		}})
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &options).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
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
	s := connect(t, nil)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(tools) {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, tool := range list.Tools {
		if tool.Annotations.ReadOnlyHint != (tool.Name != "run") {
			t.Errorf("%s can write: %v", tool.Name, !tool.Annotations.ReadOnlyHint)
		}
		if text := tool.Name == "run" || tool.Name == "log"; (tool.OutputSchema == nil) != text {
			t.Errorf("%s has the schema %v", tool.Name, tool.OutputSchema)
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
		{"plan", map[string]any{"selectors": []string{"a", "b"}}, "use selectors for less", true},
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: try.tool, Arguments: try.arguments})
		if err != nil {
			t.Errorf("%s %v: %v", try.tool, try.arguments, err)
			continue
		}
		if said := r.Content[0].(*mcp.TextContent).Text; !strings.Contains(said, try.want) || r.IsError != try.isError || len(said) > most+100 {
			t.Errorf("%s %v: %.200s, error %v", try.tool, try.arguments, said, r.IsError)
		}
		if object := r.StructuredContent != nil; object != (try.tool != "log" && !r.IsError) {
			t.Errorf("%s %v: structured content %v", try.tool, try.arguments, r.StructuredContent)
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

// A run needs the user's consent each time, and the question has what it would judge.
func TestConsent(t *testing.T) {
	for _, try := range []struct {
		action string // "" means that the agent cannot ask
		want   string
		ran    bool
	}{
		{"accept", "run|--|problem=a", true},
		{"decline", "did not agree", false},
		{"cancel", "did not agree", false},
		{"", "elicitation", false},
	} {
		var questions []string
		user := func(question string) string {
			questions = append(questions, question)
			return try.action
		}
		if try.action == "" {
			user = nil
		}
		s := connect(t, user)
		for range 2 {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"selectors": []string{"problem=a"}}})
			said := fmt.Sprint(err)
			if err == nil {
				said = r.Content[0].(*mcp.TextContent).Text
			}
			if ran := err == nil && !r.IsError; ran != try.ran || !strings.Contains(said, try.want) {
				t.Errorf("%q: %s, ran %v", try.action, said, ran)
			}
		}
		for _, question := range questions {
			if !strings.Contains(question, "plan|--|problem=a") {
				t.Errorf("the question is %q", question)
			}
		}
		if user != nil && len(questions) != 2 {
			t.Errorf("%q: %d questions for two runs", try.action, len(questions))
		}
	}
}

// An agent that ends before its user has answered, or before the question, ends the server. Answers without a question
// change nothing.
func TestInputEndsAtQuestion(t *testing.T) {
	asked := strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1) +
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run","arguments":{}}}` + "\n"
	for _, early := range []bool{false, true} {
		in, agent := io.Pipe()
		said, question := &strings.Builder{}, make(chan struct{})
		ended := make(chan error, 1)
		ran := false
		go func() {
			ended <- Serve(t.Context(), in, asks{written{said}, question}, Options{Schema: schema, Call: func(_ context.Context, args []string) (string, bool) {
				ran = ran || args[0] == "run"
				if early {
					agent.Close()
					time.Sleep(100 * time.Millisecond) // until it is noticed, or not: both must end
				}
				return "planned", true
			}})
		}()
		if _, err := io.WriteString(agent, asked+`{"jsonrpc":"2.0","id":99,"result":{}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		if !early {
			<-question
			agent.Close()
		}
		if err := <-ended; err != nil || ran {
			t.Errorf("%v, ran %v; it said %s", err, ran, said.String())
		}
	}
}

// asks is an output that notices a question to the user.
type asks struct {
	io.WriteCloser
	question chan struct{}
}

func (a asks) Write(p []byte) (int, error) {
	n, err := a.WriteCloser.Write(p)
	if strings.Contains(string(p), "elicitation/create") {
		close(a.question)
	}
	return n, err
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
	err := Serve(t.Context(), io.NopCloser(strings.NewReader(asked)), written{&said}, Options{Schema: schema, Call: func(context.Context, []string) (string, bool) {
		time.Sleep(50 * time.Millisecond)
		return `{"planned":1}`, true
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
		err := Serve(t.Context(), io.NopCloser(strings.NewReader(initialize+try.line+"\n"+`{"jsonrpc":"2.0","id":9,"method":"ping"}`+"\n")), written{said}, Options{Schema: schema})
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
	go func() { served <- Serve(t.Context(), in, written{said}, Options{Schema: schema}) }()
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
