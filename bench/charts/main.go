// Command charts draws the figures in README:
//
//	go run -C bench ./charts    # or: make charts
//
// It reads figures.json next to this file, where each chart names the machine and the command of its figures, and
// writes docs/images/figures-light.svg and -dark.svg.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed figures.json
var figures []byte

// Chart is a group of bars with a common scale.
type Chart struct {
	Title   string `json:"title"`
	Machine string `json:"machine"`
	Command string `json:"command"`
	Bars    []Bar  `json:"bars"`
}

// Bar is the median time of a program.
type Bar struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// theme is a set of colors.
type theme struct{ name, text, faint, own, other string }

var themes = []theme{
	{"light", "#1f2328", "#59636e", "#0969da", "#afb8c1"},
	{"dark", "#f0f6fc", "#9198a1", "#4493f8", "#484f58"},
}

func main() {
	dir := filepath.Join("..", "docs", "images")
	if err := write(dir); err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		os.Exit(1)
	}
}

// write writes a file for each theme into dir.
func write(dir string) error {
	var charts []Chart
	if err := json.Unmarshal(figures, &charts); err != nil {
		return err
	}
	for _, t := range themes {
		if err := os.WriteFile(filepath.Join(dir, "figures-"+t.name+".svg"), []byte(draw(charts, t)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Sizes in pixels. Labels end at left, and the longest bar of a chart is scale wide.
const (
	width  = 760
	left   = 130
	scale  = 520
	row    = 22
	head   = 30
	spacer = 14
)

// draw returns the charts as SVG, one below the other.
func draw(charts []Chart, t theme) string {
	var b strings.Builder
	y := 0
	for _, c := range charts {
		y += head
		fmt.Fprintf(&b, `<text x="0" y="%d" font-weight="600" fill="%s">%s</text>`+"\n", y-10, t.text, c.Title)
		longest := 0.0
		for _, bar := range c.Bars {
			longest = max(longest, bar.Seconds)
		}
		for _, bar := range c.Bars {
			color := t.other
			if bar.Name == "fevalgraph" {
				color = t.own
			}
			long := max(bar.Seconds/longest*scale, 1)
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end" fill="%s">%s</text>`+"\n", left-10, y+15, t.text, bar.Name)
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`+"\n", left, y+3, long, row-6, color)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s">%s</text>`+"\n", left+long+8, y+15, t.faint, seconds(bar.Seconds))
			y += row
		}
		y += spacer
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13">`+"\n", width, y) + b.String() + "</svg>\n"
}

// seconds formats a time with two or three significant digits.
func seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.2f s", s)
	case s < 100:
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}
