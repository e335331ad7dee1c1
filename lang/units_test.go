package lang

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		text string
		bare bool
		want time.Duration
		hint string // of an error
	}{
		{text: "20s", want: 20 * time.Second},
		{text: "1h30m", want: 90 * time.Minute},
		{text: "500ms", want: 500 * time.Millisecond},
		{text: " 2m ", want: 2 * time.Minute},
		{text: "0s"},
		{text: "20", hint: `write "20s"`},
		{text: "20", bare: true, hint: `write "20s"`},
		{text: "1.5", bare: true, hint: `write "1.5s"`},
		{text: "", hint: `write a number and a unit, such as "20s", "1h30m" or "500ms"`},
		{text: "2 days", hint: `write a number and a unit, such as "20s", "1h30m" or "500ms"`},
		{text: "NaN", hint: `write "NaNs"`},
	}
	for _, test := range tests {
		got, hint, err := parseDuration(test.text, test.bare)
		if got != test.want || hint != test.hint || (err != nil) != (test.hint != "") {
			t.Errorf("parseDuration(%q, %v) = %v, %q, %v", test.text, test.bare, got, hint, err)
		}
	}
	if _, _, err := parseDuration("-1s", false); err == nil {
		t.Error("a negative duration is not rejected")
	}
}

func TestSatisfies(t *testing.T) {
	tests := []struct {
		running, operator, wanted string
		want                      bool
	}{
		{"v1.2.3", ">=", "v1.2", true},
		{"v1.2.3", ">", "v1.2.3", false},
		{"v1.2.3", "<", "v2", true},
		{"v1.2.3", "<=", "v1.2.2", false},
		{"v1.2.3", "!=", "v1.2.3", false},
		{"v1.2.3", "=", "v1.2.3", true},
		{"v1.2.3", "", "v1.2.4", false},
		{"v1.9.0", "~>", "v1.2", true},
		{"v2.0.0", "~>", "v1.2", false},
		{"v1.2.9", "~>", "v1.2.3", true},
		{"v1.3.0", "~>", "v1.2.3", false},
	}
	for _, test := range tests {
		if got := satisfies(test.running, test.operator, test.wanted); got != test.want {
			t.Errorf("%s %s %s is %v", test.running, test.operator, test.wanted, got)
		}
	}
}
