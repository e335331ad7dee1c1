package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Changes come first, the regressions among them at the head.
func TestGitHubChangesGolden(t *testing.T) {
	before := mixed()
	for i := range before.Cells {
		for j := range before.Cells[i].Checkpoints {
			c := &before.Cells[i].Checkpoints[j]
			c.Passed = c.Class == verdict.Judged && !c.Passed
		}
	}
	before.Cells = before.Cells[:len(before.Cells)-1]
	before.Cells = append(before.Cells, Cell{Problem: "old", Solution: "x|y", Backend: "local.host", Status: verdict.Success})
	o := Options{Before: before, Served: "1,204 of 1,240 nodes served."}
	golden(t, "changes.github", render(t, "github", mixed(), o))
	var b bytes.Buffer
	if err := WriteAnnotations(&b, mixed(), before); err != nil {
		t.Fatal(err)
	}
	golden(t, "changes.annotations", b.Bytes())
	if text := string(render(t, "github", mixed(), Options{Before: mixed()})); !strings.Contains(text, "Nothing changed.") {
		t.Errorf("equal results:\n%s", text)
	}
}

// Output of any length and content fits, and is code.
func TestGitHubLimits(t *testing.T) {
	r := &Results{Schema: Schema}
	hostile := "@everyone closes #1 ``` </details> ![x](http://x) \x1b[31m ::error::x\n\n# heading"
	for i := range 4000 {
		r.Cells = append(r.Cells, Cell{Problem: fmt.Sprint("problem", i), Solution: "`a` @b", Backend: "local.host", Repeat: 1, Status: verdict.Error,
			Checkpoints: []Checkpoint{{Name: "one", Class: verdict.NoReport, Message: &hostile}}})
	}
	for _, limit := range []int{CommentLimit, SummaryLimit, 2000} {
		text := string(render(t, "github", r, Options{Limit: limit, Verbose: true, Before: &Results{}}))
		if len(text) > limit {
			t.Errorf("%d bytes, the limit is %d", len(text), limit)
		}
		if !strings.HasPrefix(text, CommentMarker) || !strings.Contains(text, "more\n") && !strings.Contains(text, "shows the rest") {
			t.Errorf("with %d bytes it does not report omissions", limit)
		}
		fenced := false
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			at := strings.Index(line, "@everyone")
			if at >= 0 && !fenced && strings.Count(line[:at], "`") == 0 {
				t.Fatalf("a user is mentioned: %s", line)
			}
		}
		if fenced {
			t.Errorf("with %d bytes a fence stays open", limit)
		}
	}
	var b bytes.Buffer
	if err := WriteAnnotations(&b, r, nil); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != maxAnnotations {
		t.Errorf("%d annotations", n)
	}
	for line := range strings.Lines(b.String()) {
		if strings.Count(line, "::error") != 2 || !strings.HasPrefix(line, "::error title=problem") { // one is text, in its message
			t.Errorf("annotation %q", line)
		}
	}
}
