package everyeval

import (
	"regexp"
	"testing"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"a b": "a b", "a/b:c": "a_b_c", "data": "_data_", "con.x": "_con.x_", "": "__", "x.": "_x._", "lpt1": "_lpt1_", "..": "_.._", "a\x1bb": "a_b"} {
		if got := portable(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if id := uuid("a", "b"); id == uuid("ab", "") || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("the id %s", id)
	}
	if created("19700101-000010-abcdef") != "10" || created("x") != "0" {
		t.Error("times of runs")
	}
}
