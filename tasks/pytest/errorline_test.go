package pytest

import "testing"

func TestErrorLine(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"usage", "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --checkpoint=a\n  inifile: /w/pytest.ini\n  rootdir: /w\n",
			"pytest: error: unrecognized arguments: --checkpoint=a"},
		{"marked", "ImportError: no\nE   ModuleNotFoundError: No module named 'x'\nlast\n", "ModuleNotFoundError: No module named 'x'"},
		{"named", "first\nERROR: file or directory not found: tests/\nlast\n", "ERROR: file or directory not found: tests/"},
		{"neither", "first\nlast\n\n", "last"},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := errorLine([]byte(test.log)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
