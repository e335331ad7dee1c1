package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name), "evaluation.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const base = `{"duration": 1.5, "entrypoint": "python x.py", "tests": {"c1-Core": {"passed": ["a", "b"], "failed": ["c"]},
 "c1-Error": {"passed": [], "failed": ["d"]}}, "pass_counts": {"Core": 2}, "total_counts": {"Core": 3, "Error": 1},
 "pytest_exit_code": 1, "pytest_collected": 4, "infrastructure_failure": false}`

func TestCompareTrees(t *testing.T) {
	for _, test := range []struct {
		name, other string
		want        []string // nil: no difference
	}{
		{"duration only", strings.Replace(base, "1.5", "9", 1), nil},
		{"a verdict", strings.Replace(base, `["a", "b"], "failed": ["c"]`, `["a"], "failed": ["b", "c"]`, 1), []string{"c1-Core b: passed, failed"}},
		{"a test less", strings.Replace(base, `"failed": ["d"]`, `"failed": []`, 1), []string{"c1-Error d: failed, absent"}},
		{"order of ids", strings.Replace(base, `["a", "b"]`, `["b", "a"]`, 1), []string{"c1-Core: the same tests in another order"}},
		{"order of buckets", `{"tests": {"c1-Error": {"passed": [], "failed": ["d"]}, "c1-Core": {"passed": ["a", "b"], "failed": ["c"]}},` + base[strings.Index(base, `"pass_counts"`):],
			[]string{"entrypoint", "order of buckets: [c1-Core c1-Error], [c1-Error c1-Core]"}},
		{"exit code", strings.Replace(base, `"pytest_exit_code": 1`, `"pytest_exit_code": 2`, 1), []string{"exit code: 1, 2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := compareTrees(tree(t, map[string]string{"p/c1": base}), tree(t, map[string]string{"p/c1": test.other}))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			c.write(&out, "A", "B")
			if c.differs() != (test.want != nil) {
				t.Fatalf("differs: %t\n%s", c.differs(), &out)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in\n%s", want, &out)
				}
			}
		})
	}
}

func TestCompareTreesNamesWhatIsMissing(t *testing.T) {
	c, err := compareTrees(tree(t, map[string]string{"p/c1": base, "p/c2": base}), tree(t, map[string]string{"p/c1": base, "q/c1": base}))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.write(&out, "A", "B")
	for _, want := range []string{"p/c2 is only in A", "q/c1 is only in B", "1 checkpoints with 4 tests compared: 0 differ"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	if _, err := compareTrees(t.TempDir(), t.TempDir()); err == nil {
		t.Error("an empty tree was compared")
	}
}
