package backend_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
)

func TestRedact(t *testing.T) {
	for _, test := range []struct {
		name    string
		secrets []string
		in      string
		want    string
	}{
		{"none", nil, "plain", "plain"},
		{"one", []string{"hunter22"}, "pw=hunter22!", "pw=***!"},
		{"whole", []string{"hunter22"}, "hunter22", "***"},
		{"almost", []string{"hunter22"}, "hunter2 hunter2", "hunter2 hunter2"},
		{"false start", []string{"aaab"}, "aaaaab", "aa***"},
		{"prefix of another", []string{"token", "token-long"}, "token token-long token-lo", "*** *** ***-lo"},
		{"inside another", []string{"oken", "token-long"}, "token-long", "***"},
		{"overlapping", []string{"abcd", "cdef"}, "xabcdefx", "x***x"},
		{"adjacent", []string{"abcd"}, "abcdabcd", "***"},
		{"too short", []string{"abc", ""}, "abc", "abc"},
		{"with newline at its end", []string{"hunter22\n"}, "hunter22", "***"},
		{"of several lines", []string{"first-line\nsecond-line\nxx"}, "| second-line\n| first-line\nxx", "| ***\n| ***\nxx"},
		{"in JSON", []string{`pa"ss\wörd`}, `{"k": "pa\"ss\\wörd pa\"ss\\w\u00f6rd"}`, `{"k": "*** ***"}`},
		{"in JSON for pages", []string{"a<b&c>d"}, `a\u003cb\u0026c\u003ed`, "***"},
		{"in repr", []string{`it's\here`}, `'it\'s\\here'`, "'***'"},
		{"of several lines in repr", []string{"-----KEY-----\nabcdefgh\n"}, `'-----KEY-----\nabcdefgh\n'`, `'***'`},
		{"in a URL", []string{"a b/c+d&"}, "x=a+b%2Fc%2Bd%26&y=a%20b%2Fc+d&", "x=***&y=***"},
		{"in base64", []string{"hunter22"}, "aHVudGVyMjI= xodW50ZXIyMg==", "***= x***g=="},
		{"within base64", []string{"hunter22hunter"}, base64.StdEncoding.EncodeToString([]byte("user:hunter22hunter!")), "dXNlcjp***iE="},
		{"quoted by urllib", []string{"a/b (c)~é"}, "a%2Fb%20%28c%29~%C3%A9 a%2Fb+%28c%29~%C3%A9 a/b%20%28c%29~%C3%A9", "*** *** ***"},
		{"not text", []string{"\x00\xff\xfe\x01"}, "a\x00\xff\xfe\x01b", "a***b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkRedact(t, test.in, test.secrets, test.want)
		})
	}
}

// checkRedact compares want with RedactBytes and with Redact for every cut of
// in into two writes, and into single bytes.
func checkRedact(t *testing.T, in string, secrets []string, want string) {
	t.Helper()
	if got := string(backend.RedactBytes([]byte(in), secrets)); got != want {
		t.Errorf("whole: got %q, want %q", got, want)
	}
	for cut := -1; cut <= len(in); cut++ {
		parts := strings.Split(in, "")
		if cut >= 0 {
			parts = []string{in[:cut], in[cut:]}
		} else if strings.Join(parts, "") != in {
			continue
		}
		var out bytes.Buffer
		w := backend.Redact(&out, secrets)
		for _, part := range parts {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("cut at %d: wrote %d, %v", cut, n, err)
			}
		}
		if err := w.Close(); err != nil || out.String() != want {
			t.Errorf("cut at %d: got %q, %v; want %q", cut, out.String(), err, want)
		}
	}
}

// Text that cannot be part of a secret is not delayed.
func TestRedactPassesOn(t *testing.T) {
	var out bytes.Buffer
	w := backend.Redact(&out, []string{"hunter22"})
	for _, step := range []struct{ in, want string }{
		{"line\n", "line\n"}, {"hun", "line\n"}, {"t", "line\n"}, {"!", "line\nhunt!"},
	} {
		if _, err := w.Write([]byte(step.in)); err != nil || out.String() != step.want {
			t.Errorf("after %q: got %q, %v; want %q", step.in, out.String(), err, step.want)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	line := []byte(strings.Repeat("0123 [hunter] aHVudGVy x=%20 \\x70 68:75 passed tests/test_one.py::test\n", 1000))
	w := backend.Redact(io.Discard, []string{"hunter22-hunter22", "pässwörd/with=more", strings.Repeat("key-0123456789", 200)})
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := w.Write(line); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRedactWriterFails(t *testing.T) {
	full := errors.New("disk full")
	w := backend.Redact(writerFunc(func([]byte) (int, error) { return 0, full }), []string{"hunter22"})
	for range 2 {
		if _, err := w.Write([]byte("x")); !errors.Is(err, full) {
			t.Errorf("got %v", err)
		}
	}
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("closing: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func FuzzRedact(f *testing.F) {
	f.Add("pw=hunter22", "hunter22", "ter22hun")
	f.Add("aaaaab", "aaab", "abaa")
	f.Add("abcdefabcdef", "abcdefg", "cdefab")
	f.Fuzz(func(t *testing.T, in, a, b string) {
		if len(in) > 200 {
			return
		}
		secrets := []string{a, b}
		out := string(backend.RedactBytes([]byte(in), secrets))
		checkRedact(t, in, secrets, out)
		// Without a star in them, secrets cannot arise from masks.
		if strings.Contains(in+a+b, "*") {
			return
		}
		for _, s := range secrets {
			if len(s) >= backend.MinSecret && strings.Contains(out, s) {
				t.Errorf("%q shows %q", out, s)
			}
		}
		for piece := range strings.SplitSeq(out, "***") {
			if !strings.Contains(in, piece) {
				t.Errorf("%q invents %q", out, piece)
			}
		}
	})
}

// A secret can be any word, so what decides stays as it was.
func TestRedactJSON(t *testing.T) {
	const report = `{"exitcode":1,"passed":12.50,"tests":[{"nodeid":"t.py::passed","outcome":"passed","message":"got 'passed', 1250"}]}`
	got := string(backend.RedactJSON([]byte(report), []string{"passed", "1250", "12.50"}, "nodeid", "outcome"))
	if want := `{"exitcode":1,"passed":12.50,"tests":[{"nodeid":"t.py::passed","outcome":"passed","message":"got '***', ***"}]}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for in, want := range map[string]string{`{"a": "passed"`: `{"a": "***"`, `"passed" "passed"`: `"***" "***"`, `"passed" passed`: `"***" ***`,
		"{\"tags\": null}\n{\"a\": \"passed\", \"tags\": \"passed\"}\n": "{\"tags\": null}\n{\"a\": \"***\", \"tags\": \"passed\"}\n",
		`{"a": "fine"}`: `{"a": "fine"}`,
		`{"tags" : ["passed", {"b": "passed", "c": []}], "a": "passed"}`:           `{"tags" : ["passed", {"b": "passed", "c": []}], "a": "***"}`,
		`[{"tags": 5}, "passed", {"tags": "passed", "passed": ["passed"]}]`:        `[{"tags": 5}, "***", {"tags": "passed", "passed": ["***"]}]`,
		`["say \"passed\"", "\\", "p\u0061ssed <\u003e passed", "tags", "passed"]`: `["say \"***\"", "\\", "*** \u003c\u003e ***", "tags", "***"]`} {
		if got := string(backend.RedactJSON([]byte(in), []string{"passed"}, "tags")); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
