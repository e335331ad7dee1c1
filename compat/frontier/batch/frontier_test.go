package batch

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func number64(f float64) *float64 { return &f }

func TestPair(t *testing.T) {
	for _, c := range []struct{ solution, name, model string }{
		{"a/b/gpt5.py", "gpt5", "gpt5"}, {"a/gpt5.1_2.py", "gpt5.1_2", "gpt5.1"}, {"a/x_y.cpp", "x_y", "x_y"},
		{"a/m_0.FAILED", "m_0", "m"}, {"a/m_.py", "m_", "m_"}, {"plain", "plain", "plain"}, {"a/.py", ".py", ".py"},
	} {
		p := Pair{c.solution, "a"}
		if p.Name() != c.name || p.Model() != c.model {
			t.Errorf("%s: name %q, model %q; want %q, %q", c.solution, p.Name(), p.Model(), c.name, c.model)
		}
		if back, err := ParsePair(p.ID()); err != nil || back != p {
			t.Errorf("%s: read back as %v, %v", p.ID(), back, err)
		}
	}
	for _, id := range []string{"", "a", ":", "a:", ":b"} {
		if p, err := ParsePair(id); err == nil {
			t.Errorf("%q is read as %v", id, p)
		}
	}
}

var some = []Result{
	{Pair: Pair{"b/m_1.py", "b"}, Score: number64(110), Unbounded: number64(1e16), Status: Success, Seconds: 2.5, SolutionHash: "0011", ProblemHash: "2233"},
	{Pair: Pair{"b/m.py", "b"}, Score: number64(9.5e-05), Unbounded: number64(-3), Status: Success, Seconds: 0.25},
	{Pair: Pair{"a/x/m.py", "a/x"}, Score: number64(math.NaN()), Unbounded: number64(math.Inf(-1)), Status: Success},
	{Pair: Pair{"a/x/n.py", "a/x"}, Status: Error, Message: "two, \"lines\"\nof it"},
	{Pair: Pair{"b/n.FAILED", "b"}, Score: number64(0), Status: Error, Message: "Generation failed: none"},
	{Pair: Pair{"c/m.py", "c"}, Status: Timeout, Message: "too slow"},
	{Pair: Pair{"c/n.py", "c"}, Status: Skipped, Message: "no GPU"},
	{Pair: Pair{"d/m.py", "d"}, Status: Pending},
}

// The texts equal those of Frontier-CS's batches for the same results, except for the first line and for non-finite
// scores, which these means exclude.
func TestWrite(t *testing.T) {
	files, err := Files("Evaluation Summary - nightly", some)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, f := range files {
		content[f.Name] = f.Content
	}
	for name, want := range map[string]string{
		"results.csv": "solution,problem,score,score_unbounded,status,message,duration_seconds,timestamp,solution_hash,problem_hash\r\n" +
			"a/x/m.py,a/x,nan,-inf,success,,,,,\r\n" +
			"a/x/n.py,a/x,,,error,\"two, \"\"lines\"\"\nof it\",,,,\r\n" +
			"b/m.py,b,0.000,-3.000,success,,0.250,,,\r\n" +
			"b/m_1.py,b,110.000,10000000000000000.000,success,,2.500,,0011,2233\r\n" +
			"b/n.FAILED,b,0.000,,error,Generation failed: none,,,,\r\n" +
			"c/m.py,c,,,timeout,too slow,,,,\r\nc/n.py,c,,,skipped,no GPU,,,,\r\nd/m.py,d,,,pending,,,,,\r\n",
		"by_model.csv": "model,total,successful,failed,avg_score,min_score,max_score,avg_score_unbounded,min_score_unbounded,max_score_unbounded\r\n" +
			"m,5,3,2,50.000,0.000,100.000,4999999999999998.000,-3.000,10000000000000000.000\r\nn,3,0,3,,,,,,\r\n",
		"by_problem.csv": "problem,total,successful,failed,avg_score,min_score,max_score,avg_score_unbounded,min_score_unbounded,max_score_unbounded\r\n" +
			"a/x,2,1,1,,,,,,\r\nb,3,2,1,50.000,0.000,100.000,4999999999999998.000,-3.000,10000000000000000.000\r\nc,2,0,2,,,,,,\r\nd,1,0,1,,,,,,\r\n",
		"failed.txt":  "a/x/n.py:a/x\nb/n.FAILED:b\nc/m.py:c\n",
		"pending.txt": "d/m.py:d\n",
		"skipped.txt": "c/n.py:c\n",
		"summary.txt": "Evaluation Summary - nightly\n" + strings.Repeat("=", 50) +
			"\nTotal pairs: 8\nCompleted: 7\nSuccessful: 3\nErrors: 3\n\nResults:\n" + strings.Repeat("-", 50) + "\n" +
			"a/x/m.py -> a/x: nan\na/x/n.py -> a/x: error - two, \"lines\"\nof it\nb/m.py -> b: 9.5e-05\nb/m_1.py -> b: 110.0\n" +
			"b/n.FAILED -> b: error - Generation failed: none\nc/m.py -> c: timeout - too slow\nc/n.py -> c: skipped - no GPU\nd/m.py -> d: pending - N/A",
	} {
		if got := string(content[name]); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestFilesOfOnePairTwice(t *testing.T) {
	if _, err := Files("t", append(slices.Clone(some), some[0])); err == nil {
		t.Error("two results of one pair were written")
	}
}

func TestDecodeState(t *testing.T) {
	s, err := DecodeState([]byte(`{"started_at": null, "total_pairs": 3, "results": {
		"b/m.py:b": {"score": NaN, "score_unbounded": -Infinity, "status": "success", "duration_seconds": 1.5, "solution_hash": "x", "problem_hash": null},
		"a/m.py:a": {"score": 1e999, "status": "running"}, "c:d:e": {}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := s.Results
	if len(r) != 3 || r[0].ID() != "b/m.py:b" || !math.IsNaN(*r[0].Score) || !math.IsInf(*r[0].Unbounded, -1) || r[0].Seconds != 1.5 || r[0].SolutionHash != "x" {
		t.Errorf("%+v", r)
	}
	if r[1].Status.Complete() || !math.IsInf(*r[1].Score, 1) || r[2].Status != Pending || r[2].Problem != "d:e" {
		t.Errorf("%+v", r[1:])
	}
}

func TestDecodeBrokenState(t *testing.T) {
	whole := `{"results": {"a/m.py:a": {"score": 1,` + "\n" + `"status": "success"}}}`
	for _, c := range []struct{ text, want string }{
		{"", "unexpected end of the file"},
		{whole[:len(whole)-3], `at "results.a/m.py:a": unexpected end of the file`},
		{"{\n\"results\": x}", `at "results": invalid character 'x'`},
		{whole + "{}", "unexpected data after the end"},
		{"[]", "want an object, not an array"},
		{"{}", `it has no "results"`},
		{`{"results": []}`, `at "results": want an object, not an array`},
		{`{"results": null}`, `at "results": want an object, not null`},
		{`{"results": {"a": {}}}`, `"a" is not a pair: want SOLUTION:PROBLEM`},
		{`{"results": {"a:b": []}}`, `at "results.a:b": want an object`},
		{`{"results": {"a:b": {"score": "1"}}}`, `at "results.a:b": the score is "1", which is not a number`},
		{`{"results": {"a:b": {"score": true}}}`, `the score is true, which is not a number`},
		{`{"results": {"a:b": {}, "a:b": {}}}`, `at "results.a:b": the pair is duplicated`},
	} {
		if s, err := DecodeState([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, %v; want %s", c.text, s, err, c.want)
		}
	}
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"results": {"a:b": {"score": NaN, "status": "success"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := DecodeState(text)
		if err == nil {
			resultsCSV(s.Results)
			summary("", s.Results)
		}
	})
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Frontier-CS's own functions return these hashes for the same trees.
func TestHash(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/x.py": "1", "a-b/x.py": "2", "a.py": "3", "readme": "4", "noext.": "5", "data.csv": "6", "lib.so": "7", "UP.PY": "8",
		".hidden/x.py": "9", "__pycache__/x.py": "10", "sub/.dot.py": "11", "sub/deep/y.json": "12",
	})
	if err := os.Symlink("a.py", filepath.Join(dir, "link.py")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	for g, want := range map[Generation]string{First: wantFirst, Second: wantSecond} {
		if got, err := HashDirectory(dir, g); err != nil || got != want {
			t.Errorf("generation %d: %s, %v; want %s", g, got, err, want)
		}
	}
	if got, err := HashFile(filepath.Join(dir, "a.py")); err != nil || got != "4e07408562bedb8b" {
		t.Errorf("file: %s, %v", got, err)
	}
	if got, err := HashDirectory(t.TempDir(), First); err != nil || got != HashOfNothing || got != "e3b0c44298fc1c14" {
		t.Errorf("empty: %s, %v", got, err)
	}
	if got, err := HashDirectory(filepath.Join(dir, "gone"), First); err == nil {
		t.Errorf("a directory that is not there has the hash %s", got)
	}
}

const (
	wantFirst  = "c3607cb2f92efbec"
	wantSecond = "2041d385533a05ff"
)
