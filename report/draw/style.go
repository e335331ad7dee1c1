package draw

import (
	"fmt"
	"math"
	"strings"
)

// Series is the number of colors for series.
const Series = 8

// Shades is the number of shades from none to all.
const Shades = 11

// role is the purpose of a color, with its light and dark values. Class "fNAME" fills with it, "kNAME" draws
// lines.
type role struct{ name, light, dark string }

var roles = append([]role{
	{"back", "#ffffff", "#14171a"},
	{"text", "#1b2126", "#dfe4e8"},
	{"dim", "#5b6670", "#98a3ad"},
	{"grid", "#dfe3e6", "#2d3339"},
	{"good", "#1a7a3a", "#5fc27e"},
	{"bad", "#b3261e", "#f2867d"},
	{"odd", "#8f5200", "#e5a54b"},
	{"fault", "#7a3fae", "#c39aee"},
	{"s0", "#1763a6", "#74b3ee"},
	{"s1", "#b3541e", "#f09a6a"},
	{"s2", "#1a7a3a", "#5fc27e"},
	{"s3", "#7a3fae", "#c39aee"},
	{"s4", "#8a6d00", "#dcc04a"},
	{"s5", "#b3266e", "#f28ab2"},
	{"s6", "#0b7680", "#5fcfd8"},
	{"s7", "#5b6670", "#98a3ad"},
}, shades()...)

// shades returns shades of a single hue, which can also be distinguished without colors.
func shades() []role {
	light, dark := [2][3]float64{{238, 243, 248}, {8, 69, 128}}, [2][3]float64{{31, 38, 46}, {126, 190, 247}}
	mix := func(ends [2][3]float64, share float64) string {
		var c [3]int
		for i := range c {
			c[i] = int(ends[0][i] + share*(ends[1][i]-ends[0][i]) + 0.5)
		}
		return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
	}
	var all []role
	for n := range Shades {
		share := float64(n) / (Shades - 1)
		all = append(all, role{fmt.Sprintf("h%d", n), mix(light, share), mix(dark, share)})
	}
	for n := range Shades {
		all = append(all, role{fmt.Sprintf("on%d", n), readable(all[n].light), readable(all[n].dark)})
	}
	return all
}

// readable returns black or white, whichever has more contrast with a background color.
func readable(back string) string {
	var c [3]int
	fmt.Sscanf(back, "#%02x%02x%02x", &c[0], &c[1], &c[2])
	luminance := 0.0 // according to WCAG 2
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(c[i]) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		luminance += weight * v
	}
	if 1.05/(luminance+0.05) > (luminance+0.05)/0.05 {
		return "#ffffff"
	}
	return "#000000"
}

// ShadeOf returns the number of the shade for a share. Text on shade 3 has the role "on3".
func ShadeOf(share float64) int { return min(max(int(share*(Shades-1)+0.5), 0), Shades-1) }

// CSS rules without colors. font is for files only: a page sets its own.
const (
	font   = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
	shared = "svg.figure text{font-size:12px}svg.figure text.small{font-size:10.5px}svg.figure text.strong{font-weight:600}" +
		"svg.figure path{fill:none}svg.figure .thin{stroke-width:1}svg.figure .wide{stroke-width:2}svg.figure .thick{stroke-width:6;stroke-opacity:.35;stroke-linecap:round}" +
		"svg.figure .dash{stroke-dasharray:5 3}svg.figure .dots{stroke-dasharray:2 3}svg.figure .faint{fill-opacity:.3}svg.figure .pale{stroke-opacity:.45}svg.figure .clear{fill-opacity:0}"
)

// Style returns the style of files, which follows the viewer's preference for light or dark.
func Style() string {
	var light, dark strings.Builder
	for _, r := range roles {
		fmt.Fprintf(&light, ".f%s{fill:%s}.k%s{stroke:%s}", r.name, r.light, r.name, r.light)
		fmt.Fprintf(&dark, ".f%s{fill:%s}.k%s{stroke:%s}", r.name, r.dark, r.name, r.dark)
	}
	return "svg.figure{" + font + "}" + shared + light.String() + "@media (prefers-color-scheme:dark){" + dark.String() + "}"
}

// PageStyle returns the style of a page, which follows the page's switch between light and dark. Shades are
// also defined as variables.
func PageStyle() string {
	var vars, rules strings.Builder
	for _, r := range roles {
		fmt.Fprintf(&vars, "--f-%s:light-dark(%s,%s);", r.name, r.light, r.dark)
		fmt.Fprintf(&rules, "svg.figure .f%s{fill:var(--f-%s)}svg.figure .k%s{stroke:var(--f-%s)}", r.name, r.name, r.name, r.name)
	}
	return ":root{" + vars.String() + "}" + shared + rules.String()
}
