package lang

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

func (l *loader) evaluateSettings(d *decl) {
	b := l.open(d, d.block, d.schema, l.scope(d))
	s := &l.config.Settings
	if version, g := b.text("required_version"); g == isSet {
		s.RequiredVersion = version
		b.checkVersion(version)
	}
	if c := b.only("cache"); c != nil {
		if dir, g := c.path("dir"); g == isSet {
			s.CacheDir = dir
		}
	}
}

var versionCondition = regexp.MustCompile(`^(>=|<=|!=|~>|=|>|<)?\s*v?(\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?)$`)

// checkVersion compares a constraint with the running program. A program
// that has no version number, a development build, satisfies every one.
func (b *block) checkVersion(constraint string) {
	running := "v" + strings.TrimPrefix(b.l.options.Version, "v")
	for condition := range strings.SplitSeq(constraint, ",") {
		m := versionCondition.FindStringSubmatch(strings.TrimSpace(condition))
		if m == nil {
			b.reject("required_version", "bad-version", "Bad version condition",
				fmt.Sprintf("%q is not a version condition.", strings.TrimSpace(condition)), `write such as ">= 0.1, < 2"`)
			return
		}
		if semver.IsValid(running) && !satisfies(running, m[1], "v"+m[2]) {
			b.reject("required_version", "version-mismatch", "Wrong version of fevalgraph",
				fmt.Sprintf("This is fevalgraph %s; the configuration asks for %q.", b.l.options.Version, constraint), "")
			return
		}
	}
}

// satisfies compares two versions; "~>" allows the last given part to grow.
func satisfies(running, operator, wanted string) bool {
	c := semver.Compare(running, wanted)
	switch operator {
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case "<":
		return c < 0
	case "!=":
		return c != 0
	case "~>":
		if strings.Count(wanted, ".") == 2 {
			return c >= 0 && semver.MajorMinor(running) == semver.MajorMinor(wanted)
		}
		return c >= 0 && semver.Major(running) == semver.Major(wanted)
	}
	return c == 0
}
