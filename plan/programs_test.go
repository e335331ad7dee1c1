package plan

import (
	"slices"
	"testing"
)

func TestProgramWords(t *testing.T) {
	for _, test := range []struct {
		line, without string
		words         []string
	}{
		{"", "", nil},
		{"python3 main.py --flag", "main.py", []string{"main.py", "python3"}},
		{"env A=1 nice node ./run.js a/b", "1 A env nice node", []string{"1", "A", "env", "nice", "node"}},
		{"/opt/tool/grade 'x'|g++-12;g++-12", "/opt/tool/grade g++-12 x", []string{"/opt/tool/grade", "g++-12", "x"}},
		{"$(command -v größe)", "command größe", []string{"command", "größe"}},
	} {
		if got := ProgramWords([]string{test.line}); !slices.Equal(got, test.words) {
			t.Errorf("%q: words %q, want %q", test.line, got, test.words)
		}
		if got := withoutPython(test.line); got != test.without {
			t.Errorf("%q: without Python %q, want %q", test.line, got, test.without)
		}
	}
}
