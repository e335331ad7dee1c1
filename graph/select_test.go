package graph

import (
	"strings"
	"testing"
)

func TestSelector(t *testing.T) {
	const addr = `pytest:kvstore/checkpoint_1/agent["gpt, large"]@local.host`
	axes := map[string][]string{
		"problem": {"kvstore"}, "solution": {`agent["gpt, large"]`}, "tag": {"cli", "storage"}, "kind": {"pytest"}, "suite": nil,
	}
	values := func(axis string) []string { return axes[axis] }
	names := []string{"problem", "solution", "tag", "kind", "suite"}
	for _, try := range []struct {
		args string // arguments, separated by "|"
		want bool
	}{
		{addr, true},
		{"pytest:kvstore", true}, // everything below it
		{"pytest:kvstore/checkpoint_1", true},
		{"pytest:kvstore/check", false}, // whole names only
		{"pytest:kv", false},
		{"kvstore", true}, // without the kind
		{"kvstore/checkpoint_1", true},
		{"checkpoint_1", false}, // from the beginning
		{"parse:kvstore", false},
		{"pytest:*", true}, // * crosses everything
		{"*agent*", true},
		{"*/agent*", true},
		{"**/agent*", true},
		{"*@local.host", true},
		{"*@docker.*", false},
		{"kvstore/checkpoint_?/*", true},
		{"kvstore/checkpoint_??/*", false},
		{"kvstore/*/agent*", true},
		{`kvstore/checkpoint_1/agent["gpt, large"]@local.host`, true},
		{`"kvstore/checkpoint_1/agent[gpt, large]@local.host"`, true}, // quotes are dropped
		{"*agent[gpt*", true}, // brackets do not form a class
		{"*agent[a-z]pt*", false},
		{"*{agent,x}*", false}, // nor braces, and the comma cuts
		{`*\*`, false},
		{"problem=kvstore", true},
		{"problem=kv*", true},
		{"problem=kv", false},
		{"problem=", false},
		{"solution=agent", true}, // every instance
		{`solution=agent["gpt, large"]`, true},
		{`solution="agent[gpt, large]"`, true},
		{"solution=agent[gpt*", true},
		{"solution=age", false},
		{"tag=storage", true},
		{"tag=web", false},
		{"suite=nightly", false},
		{"problem=kvstore,tag=cli", true},
		{"problem=kvstore,tag=web", false},
		{" problem=kvstore , tag=cli ", true},
		{"tag=web|tag=cli", true},
		{"tag=web|tag=x", false},
		{`*agent["gpt, large"]*,kind=pytest`, true},
		{"not tag=web", true},
		{"not not tag=web", false},
		{"not tag=cli", false},
		{"problem=kvstore,not tag=cli", false},
		{"not (tag=cli,tag=web)", true},
		{"not (tag=cli,tag=storage)", false},
		{"( tag=cli , (kvstore) )", true},
		{"pytest:kvstore(x", false}, // a parenthesis of a name
		{"pytest:kvstore)", false},
	} {
		s, err := ParseSelector(strings.Split(try.args, "|"), names)
		if err != nil {
			t.Errorf("%s: %v", try.args, err)
			continue
		}
		if got := s.Match(addr, values); got != try.want {
			t.Errorf("%s: %v, want %v", try.args, got, try.want)
		}
	}
}

// A node also matches by the name of its group, like the group's other nodes.
func TestSelectorMatchesGroups(t *testing.T) {
	const addr, group = "parse:kv/one/agent@local.host#2", "kv/agent@local.host#2"
	for arg, want := range map[string]bool{
		"kv/agent": true, "kv/agent@local.host#2": true, "kv/a*": true, "kv/agent,parse:kv": true, "kv/agent,kv/one": true,
		"kv/agent@local.host": false, "parse:kv/agent": false, "kv/other": false, "not kv/agent": false, "not kv/one/agent": false, "not kv/other": true,
	} {
		s, err := ParseSelector([]string{arg}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Match(addr, nil, group); got != want {
			t.Errorf("%s: %v, want %v", arg, got, want)
		}
	}
}

func TestSelectorRefuses(t *testing.T) {
	for arg, want := range map[string]string{
		"problm=x":   `selector "problm=x": no axis "problm"; known are problem, tag`,
		"":           `selector "" has an empty term`,
		" ":          "has an empty term",
		",":          "has an empty term",
		"tag=a,":     "has an empty term",
		",tag=a":     "has an empty term",
		"tag=a,,b":   "has an empty term",
		"tag=a, ,b":  "has an empty term",
		"tag=a,xx=b": `no axis "xx"`,
		"not ":       "has an empty term",
		"(tag=a":     `missing ")"`,
		"(tag=a,)":   "has an empty term",
		"(tag=a)b":   `"b" follows a complete term`,
		"deps(x)":    "deps(...) selects nodes of a project",
		"file:x":     "file: selects nodes of a project",
		strings.Repeat("(", 101) + "x" + strings.Repeat(")", 101): "nested more than 100 deep",
	} {
		if _, err := ParseSelector([]string{arg}, []string{"problem", "tag"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", arg, err, want)
		}
	}
	// "=" in an instance key is part of an address.
	if _, err := ParseSelector([]string{`kv/agent["a=b"]`, "pytest:x=y", "kv/x=y", "*=y"}, nil); err != nil {
		t.Error(err)
	}
}

func TestSelectorEmpty(t *testing.T) {
	s, err := ParseSelector(nil, nil)
	if err != nil || !s.Empty() || !(*Selector)(nil).Empty() {
		t.Errorf("%v, %v", s, err)
	}
	if s, _ := ParseSelector([]string{"x"}, nil); s.Empty() {
		t.Error("one term is not empty")
	}
}

func FuzzSelector(f *testing.F) {
	f.Add("problem=kv*,tag=a", "pytest:kv/a")
	f.Add(`*[{\**?`, `a["b, c"]`)
	f.Fuzz(func(t *testing.T, arg, addr string) {
		if s, err := ParseSelector([]string{arg}, []string{"problem"}); err == nil {
			s.Match(addr, func(string) []string { return []string{addr} })
		}
		if s, err := (Syntax{Axes: []string{"problem"}, Graph: true}).Parse([]string{arg}); err == nil {
			g := New()
			a := g.Add(Node{Addr: "tests:a"})
			g.Add(Node{Addr: addr + "b", Deps: []Dep{{On: a}}})
			none := func(string) ([]bool, error) { return make([]bool, 2), nil }
			if _, err := s.Nodes(Scope{Group: func(*Node) string { return "" }, Graph: g, Values: func(*Node, string) []string { return []string{addr} }, Readers: none}); err != nil {
				t.Error(err)
			}
		}
		// Every address selects itself, unless its quotes do not pair up.
		addr = "pytest:" + addr
		if strings.Count(addr, `"`)%2 == 0 && !strings.ContainsAny(addr, ",=") && strings.TrimSpace(addr) == addr {
			s, err := ParseSelector([]string{addr}, nil)
			if err != nil || !s.Match(addr, nil) {
				t.Errorf("%q does not select itself: %v", addr, err)
			}
		}
	})
}

// shape returns a graph of two chains that share their first node, and the files that nodes read.
//
//	tests:a ─► pytest:a/x ─► parse:a/x
//	        └► pytest:a/y
//	tests:b ─► pytest:b/x
func shape() Scope {
	g := New()
	add := func(addr string, deps ...ID) ID {
		n := Node{Addr: addr, Kind: strings.SplitN(addr, ":", 2)[0]}
		for _, on := range deps {
			n.Deps = append(n.Deps, Dep{On: on, As: g.Node(on).Addr})
		}
		return g.Add(n)
	}
	a, b := add("tests:a"), add("tests:b")
	add("parse:a/x", add("pytest:a/x", a))
	add("pytest:a/y", a)
	add("pytest:b/x", b)
	return Scope{
		Graph:  g,
		Group:  func(*Node) string { return "" },
		Values: func(n *Node, _ string) []string { return []string{n.Kind} },
		Readers: func(path string) ([]bool, error) {
			set := make([]bool, g.Len())
			set[a], set[b] = path == "a, b.py" || path == "a.py", path == "a, b.py"
			return set, nil
		},
	}
}

func TestSelectorNodes(t *testing.T) {
	in := shape()
	for arg, want := range map[string]string{
		"deps(parse:a/x)":                       "tests:a pytest:a/x parse:a/x",
		"rdeps(tests:a)":                        "tests:a pytest:a/x parse:a/x pytest:a/y",
		"rdeps(tests:a),kind=pytest":            "pytest:a/x pytest:a/y",
		"rdeps(tests:a),not kind=pytest":        "tests:a parse:a/x",
		"not rdeps(tests:a)":                    "tests:b pytest:b/x",
		"not deps(rdeps(tests:b))":              "tests:a pytest:a/x parse:a/x pytest:a/y",
		"path(tests:a, parse:a/x)":              "tests:a pytest:a/x parse:a/x",
		"path(parse:a/x,tests:a)":               "tests:a pytest:a/x parse:a/x",
		"path(tests:b, parse:a/x)":              "",
		"path((kind=tests,not tests:b),*)":      "tests:a pytest:a/x parse:a/x pytest:a/y",
		"file:a.py":                             "tests:a",
		`file:"a, b.py"`:                        "tests:a tests:b",
		"rdeps(file:a.py)":                      "tests:a pytest:a/x parse:a/x pytest:a/y",
		"(file:a.py)|(kind=pytest,*/x)":         "tests:a pytest:a/x pytest:b/x",
		"deps(pytest:a/y)|deps(pytest:b/x)":     "tests:a tests:b pytest:a/y pytest:b/x",
		"kind=tests,not file:a.py":              "tests:b",
		"rdeps(file:a.py,kind=nothing)":         "",
		"path(not (kind=tests), deps(tests:b))": "tests:b pytest:b/x",
	} {
		s, err := Syntax{Axes: []string{"kind"}, Graph: true}.Parse(strings.Split(arg, "|"))
		if err != nil {
			t.Errorf("%s: %v", arg, err)
			continue
		}
		set, err := s.Nodes(in)
		if err != nil {
			t.Errorf("%s: %v", arg, err)
		}
		var got []string
		for id, picked := range set {
			if picked {
				got = append(got, in.Graph.Node(ID(id)).Addr)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
	s, err := Syntax{Axes: []string{"kind"}, Graph: true, Expand: func(term string) string { return strings.ToUpper(term) }}.Parse([]string{"a,rdeps(file:x)", "path(file:y, b)"})
	if err != nil || strings.Join(s.Leaves(), " ") != "A B" || strings.Join(s.Files(), " ") != "x y" || !s.NeedsScope() {
		t.Errorf("%v: leaves %q, files %q", err, s.Leaves(), s.Files())
	}
	for arg, want := range map[string]string{"path(a)": "path requires two terms", "path(a,b,c)": `missing ")"`, "file:": "requires a path", "deps()": "has an empty term", "deps(x=y)": "no axis"} {
		if _, err := (Syntax{Graph: true}).Parse([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}
