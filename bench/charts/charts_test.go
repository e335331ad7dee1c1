package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The committed images show the committed figures, each with its origin.
func TestCharts(t *testing.T) {
	var charts []Chart
	if err := json.Unmarshal(figures, &charts); err != nil {
		t.Fatal(err)
	}
	for _, c := range charts {
		if c.Machine == "" || c.Command == "" || len(c.Bars) < 2 {
			t.Errorf("%s: want a machine, a command and at least two bars", c.Title)
		}
	}
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, theme := range themes {
		name := "figures-" + theme.name + ".svg"
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("..", "..", "docs", "images", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != string(want) {
			t.Errorf("docs/images/%s does not show figures.json; run make charts", name)
		}
	}
}
