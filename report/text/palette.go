package text

import "strings"

// Palette writes color, unless it is off; the zero Palette is off. Color only repeats what words or marks show.
type Palette struct{ on bool }

// NewPalette returns a Palette that is on or off.
func NewPalette(on bool) Palette { return Palette{on} }

// On reports whether the palette writes color.
func (p Palette) On() bool { return p.on }

// Colors by meaning.

func (p Palette) Good(s string) string   { return p.paint("32", s) }
func (p Palette) Bad(s string) string    { return p.paint("31", s) }
func (p Palette) Doubt(s string) string  { return p.paint("33", s) }
func (p Palette) Quiet(s string) string  { return p.paint("2", s) }
func (p Palette) Strong(s string) string { return p.paint("1", s) }

func (p Palette) paint(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// stripColor removes what paint adds. Line and Block escape other escape characters, so nothing else can match.
func stripColor(s string) string {
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
