package lang

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkLoad loads 100 problems of 5 checkpoints and 10,000 solutions: the
// size that the design promises to bear.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	t := &testing.T{}
	for i := range 5 {
		write(t, fmt.Sprintf("%s/tests/test_c%d.py", dir, i), nil)
	}
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, `
problem "p%d" {
  entry = "python main.py"
  pytest { root = "tests" }
  dynamic "checkpoint" {
    for_each = range(5)
    labels   = ["c${checkpoint.value}"]
    content {}
  }
}
solution "s%d" {
  for_each = toset([for n in range(100) : tostring(n)])
  problem  = problem.p%d
  source   = "tests"
  labels   = { model = each.key }
}
`, i, i, i)
	}
	text.WriteString("suite \"all\" {\n  exclude {\n    when = cell.solution.labels.model == \"7\"\n  }\n}\n")
	write(t, dir+"/"+MainFile, []byte(text.String()))
	for b.Loop() {
		c, list := Load(Options{Inputs: Inputs{Dir: dir}})
		if list.HasErrors() || len(c.Suites[0].Cells) != 9900 {
			b.Fatal(diagText(list, dir))
		}
	}
}
