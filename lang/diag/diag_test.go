package diag

import (
	"slices"
	"testing"
)

func at(file string, line, column int) *Range {
	return &Range{File: file, Start: Pos{Line: line, Column: column}}
}

func TestList(t *testing.T) {
	warning := Diagnostic{Severity: Warning, Summary: "Old name", Range: at("a.hcl", 1, 1)}
	plain := Diagnostic{Severity: Error, Summary: "Bad value"}
	placed := Diagnostic{Severity: Error, Summary: "Bad value", Detail: "want a number.", Range: at("a.hcl", 3, 7)}
	for _, c := range []struct {
		name   string
		list   List
		errors bool
		want   string
	}{
		{"empty", nil, false, ""},
		{"a warning counts as no error", List{warning}, false, ""},
		{"without a location", List{plain}, true, "Bad value"},
		{"with a location and a detail", List{placed}, true, "a.hcl:3,7: Bad value: want a number."},
		{"warnings are not counted", List{warning, plain, warning}, true, "Bad value"},
		{"more errors are counted", List{warning, placed, plain, plain}, true, "a.hcl:3,7: Bad value: want a number. (and 2 more)"},
	} {
		if got := c.list.HasErrors(); got != c.errors {
			t.Errorf("%s: HasErrors is %v", c.name, got)
		}
		if got := c.list.Error(); got != c.want {
			t.Errorf("%s: Error is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSort(t *testing.T) {
	sorted := List{
		{Code: "none"},
		{Code: "a", Range: at("a.hcl", 2, 9)},
		{Code: "b", Range: at("a.hcl", 2, 9), Summary: "first"},
		{Code: "b", Range: at("a.hcl", 2, 9), Summary: "second"}, // equal ones keep their order
		{Code: "a", Range: at("a.hcl", 2, 10)},
		{Code: "a", Range: at("a.hcl", 10, 1)},
		{Code: "a", Range: at("b.hcl", 1, 1)},
	}
	mixed := List{sorted[6], sorted[2], sorted[5], sorted[3], sorted[0], sorted[4], sorted[1]}
	mixed.Sort()
	for i := range sorted {
		if mixed[i].Range != sorted[i].Range || mixed[i].Code != sorted[i].Code || mixed[i].Summary != sorted[i].Summary {
			t.Fatalf("position %d: %s, %s %s", i, mixed[i].rangeOrZero(), mixed[i].Code, mixed[i].Summary)
		}
	}
}

func TestRangeText(t *testing.T) {
	got := []string{Range{}.String(), Range{Start: Pos{Line: 4}}.String(), at("dir/x.hcl", 12, 3).String()}
	if want := []string{"", "", "dir/x.hcl:12,3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
