package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// BenchmarkKeystroke types into projects of 100 problems by for_each, with 3 checkpoints and
// 60 KiB of tests each. A round is from a key stroke to the diagnostics of the text, with the
// pause before they are looked for.
func BenchmarkKeystroke(b *testing.B) {
	for _, solutions := range []int{100, 1000} {
		b.Run(fmt.Sprintf("solutions=%d", solutions), func(b *testing.B) { keystroke(b, solutions) })
	}
}

func keystroke(b *testing.B, solutions int) {
	dir := b.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	tests := strings.Repeat("def test_sum():\n    assert run(\"1 2\") == \"3\"\n\n\n", 400) // 20 KiB
	for i := range 100 {
		for _, name := range []string{"a", "b", "c"} {
			write(fmt.Sprintf("problems/p%d/tests/test_%s.py", i, name), tests)
		}
	}
	write("solutions/main.py", "")
	write("fevalgraph.hcl", fmt.Sprintf(`locals {
  names = [for n in range(100) : "p${n}"]
  pairs = { for p in setproduct(local.names, range(%d)) : "${p[0]}-${p[1]}" => p[0] }
}

problem "all" {
  for_each = local.names
  name     = each.value
  entry    = "python main.py"
  pytest { root = "problems/${each.value}/tests" }
  checkpoint "a" {}
  checkpoint "b" {}
  checkpoint "c" {}
}

solution "all" {
  for_each = local.pairs
  problem  = problem.all[each.value]
  source   = "solutions"
}
`, solutions/100))
	c := dial(b, Options{Project: projectOptions(b)})
	c.call("initialize", json.RawMessage(`{"capabilities": {}}`), nil)
	c.notify("initialized", struct{}{})
	uri := c.open(filepath.Join(dir, "fevalgraph.hcl"))
	if found := c.diagnostics(uri); len(found) > 0 {
		b.Fatal(found)
	}
	longest, place := time.Duration(0), findPosition(b, c.texts[uri], "python", 0)
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		c.edit(uri, Range{place, place}, "x")
		if found := c.diagnostics(uri); len(found) > 0 {
			b.Fatal(found)
		}
		longest = max(longest, time.Since(began))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(longest.Milliseconds()), "ms/longest")
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}
