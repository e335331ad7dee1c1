package compat

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
)

// endless is a file of a format whose part can be repeated without end. %d is the number of a part, and NAME a name.
var endless = map[string]struct{ begin, part, separator, end string }{
	"junit":    {`<testsuite>`, `<testcase name="%dNAME"/>`, "", `</testsuite>`},
	"swebench": {`{"total_instances": 1, "submitted_instances": 1, "resolved_ids": [`, `"%dNAME"`, ",", `]}`},
	"inspect":  {`{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [`, `{"id": "%dNAME", "epoch": 1}`, ",", `]}`},
	"lm-eval":  {"", `{"doc_id": "%dNAME", "doc": {}, "metrics": ["acc"], "acc": 1}`, "\n", ""},
	"every_eval_ever": {"", `{"evaluation_id": "x", "model_id": "m", "evaluation_name": "e", "sample_id": "%dNAME", "evaluation": {"score": 1, "is_correct": true}}`,
		"\n", ""},
	"csv": {"id,passed\n", "%dNAME,1", "\n", "\n"},
}

// maxName bounds a name, in bytes.
const maxName = 4 << 10

// endlessFile writes a file with parts whose names have a length.
func endlessFile(t *testing.T, format string, parts, length int) *os.File {
	t.Helper()
	e := endless[format]
	file := textfile.Open(t, "x", "")
	out, err := os.OpenFile(file.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	part := strings.Replace(e.part, "NAME", strings.Repeat("n", length), 1)
	fmt.Fprint(out, e.begin)
	for i := range parts {
		if i > 0 {
			fmt.Fprint(out, e.separator)
		}
		fmt.Fprintf(out, part, i)
	}
	if _, err := io.WriteString(out, e.end); err != nil {
		t.Fatal(err)
	}
	return file
}

// Readers keep no name of any length. A trial of Harbor is one attempt, whose names are cut.
func TestLongNames(t *testing.T) {
	for _, f := range plan.LogFormats(Benchmarks()) {
		if f.Name == "harbor" {
			continue
		}
		if logs, err := f.Read(endlessFile(t, f.Name, 3, maxName-1)); err != nil || len(logs[0].Attempts) != 3 {
			t.Errorf("%s: %v", f.Name, err)
		}
		if _, err := f.Read(endlessFile(t, f.Name, 3, maxName)); err == nil || !strings.Contains(err.Error(), "is longer than 4096 bytes") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
