package lang

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Each edit of a finding in the golden cases fixes it.
func TestFixes(t *testing.T) {
	files, err := filepath.Glob("testdata/diagnostics/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	fixed := 0
	for _, file := range files {
		_, o := readCase(t, file)
		_, list := Load(o)
		for _, d := range list {
			if d.Fix == nil {
				continue
			}
			fixed++
			path := filepath.Join(o.Dir, d.Fix.Range.File)
			text, err := (&loader{}).readFile(path)
			if err != nil {
				t.Fatal(err)
			}
			mended := bytes.Join([][]byte{text[:d.Fix.Range.Start.Byte], []byte(d.Fix.Text), text[d.Fix.Range.End.Byte:]}, nil)
			with := o
			with.Overlay = func(name string) ([]byte, bool) { return mended, name == path }
			_, after := Load(with)
			if hasFinding(after, d) {
				t.Errorf("%s: %s %q is still reported with %q:\n%s", file, d.Range, d.Detail, d.Fix.Text, mended)
			}
		}
	}
	if fixed < 20 {
		t.Errorf("only %d findings have an edit", fixed)
	}
}

// hasFinding reports whether a list contains a finding like d.
func hasFinding(list diag.List, d diag.Diagnostic) bool {
	for _, other := range list {
		if other.Code == d.Code && other.Detail == d.Detail && other.Range != nil && other.Range.Start == d.Range.Start {
			return true
		}
	}
	return false
}
