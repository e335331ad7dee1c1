package lang

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eachCase calls a test with every golden case.
func eachCase(t *testing.T, test func(t *testing.T, o Options)) {
	t.Helper()
	var files []string
	for _, dir := range []string{"diagnostics", "config"} {
		found, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, o := readCase(t, file)
			test(t, o)
		})
	}
}

func analyze(t *testing.T, o Options) *Analysis {
	t.Helper()
	a, err := Analyze(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A caller that cancels an analysis gets no result, even if half of it is done.
func TestAnalysisEnds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "test_one.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	text := `problem "p" {
  for_each = toset(["a", "b"])
  entry    = "python test_one.py"
  pytest { root = "." }
  checkpoint "one" {}
}
solution "s" {
  for_each = problem.p
  problem  = each.value
  source   = "test_one.py"
}
`
	o := Options{Inputs: Inputs{Dir: dir}, Overlay: func(path string) ([]byte, bool) { return []byte(text), path == filepath.Join(dir, MainFile) }}
	ctx, cancel := context.WithCancel(context.Background())
	if a, err := Analyze(ctx, o); err != nil || a.Findings().HasErrors() {
		t.Fatal(a.Findings(), err)
	}
	cancel()
	if a, err := Analyze(ctx, o); a != nil || err != context.Canceled {
		t.Errorf("got %v, %v", a, err)
	}
}

// An editor gets the findings that everybody gets, and the configuration.
func TestAnalysisIsLoad(t *testing.T) {
	eachCase(t, func(t *testing.T, o Options) {
		_, want := Load(o)
		if diff := cmp.Diff(want, analyze(t, o).Findings()); diff != "" {
			t.Error(diff)
		}
	})
}

// Each declaration is found at its name and at every reference to it, and both show that name.
func TestNames(t *testing.T) {
	eachCase(t, func(t *testing.T, o Options) {
		a := analyze(t, o)
		for d := range a.l.allDeclarations() {
			if d.block == nil && d.attr == nil || d.kind == "fevalgraph" {
				continue
			}
			spans := []Span{d.nameSpan()}
			for _, u := range a.l.uses {
				if u.to == d {
					spans = append(spans, u.span)
				}
			}
			for _, span := range spans {
				text, err := os.ReadFile(span.File)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(text[span.Start:span.End]); got != d.name() {
					t.Errorf("%s is named %q at %v", d.title(), got, span)
				}
				if other, at, ok := a.Named(span.File, span.End); !ok || other.NameSpan != d.nameSpan() || at != span {
					t.Errorf("at %v %s is named, not %s", span, other.Title, d.title())
				}
			}
		}
	})
}

// Valid expressions have values, also next to invalid ones, and never show a secret.
func TestValues(t *testing.T) {
	dir := t.TempDir()
	text := `variable "token" {
  default   = "hush-hush"
  sensitive = true
}
locals {
  list  = [1, 2]
  plain = "a${local.list[1]}"
  token = "x-${var.token}"
  wrong = local.nothing
}
problem "p" {
  for_each = { a = "1s", b = "2s" }
  locals { half = "${each.value}" }
  timeout = local.half
  entry   = "python main.py"
  command {
    root = "."
    run  = ["true"]
  }
}
`
	o := Options{Inputs: Inputs{Dir: dir}, Overlay: func(path string) ([]byte, bool) { return []byte(text), path == filepath.Join(dir, MainFile) }}
	a := analyze(t, o)
	for part, want := range map[string][]Evaluated{
		"plain = ":   {{"", `"a2"`}},
		"token = \"": {{"", `"(sensitive)"`}},
		"wrong = ":   nil,
		"timeout = ": {{`each.key = "a"`, `"1s"`}, {`each.key = "b"`, `"2s"`}},
		"half = ":    {{`each.key = "a"`, `"1s"`}, {`each.key = "b"`, `"2s"`}},
	} {
		got, _ := a.Values(filepath.Join(dir, MainFile), findText(t, text, part)+2, 5)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s%s", part, diff)
		}
	}
	if got, total := a.Values(filepath.Join(dir, MainFile), findText(t, text, "timeout"), 1); len(got) != 1 || total != 2 {
		t.Errorf("an element of %d is %v", total, got)
	}
}

// Of files with a syntax error, names and references are known.
func TestAnalysisOfBrokenFile(t *testing.T) {
	dir := t.TempDir()
	text := "pool \"p\" { slots = 1 }\nbackend \"local\" \"b\" { pool = pool.p }\nproblem \"x\" {\n  title = \n"
	a := analyze(t, Options{Inputs: Inputs{Dir: dir}, Overlay: func(path string) ([]byte, bool) { return []byte(text), path == filepath.Join(dir, MainFile) }})
	if a.Whole() || !a.Findings().HasErrors() {
		t.Fatalf("it is whole: %v", a.Findings())
	}
	if s, _, ok := a.Named(filepath.Join(dir, MainFile), findText(t, text, "pool.p")+len("pool.p")); !ok || s.Title != "pool \"p\"" {
		t.Errorf("got %+v", s)
	}
}

func findText(t *testing.T, text, part string) int {
	t.Helper()
	for at := range text {
		if len(text[at:]) >= len(part) && text[at:at+len(part)] == part {
			return at
		}
	}
	t.Fatalf("there is no %q", part)
	return 0
}
