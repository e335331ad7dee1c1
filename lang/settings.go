package lang

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"golang.org/x/mod/semver"
)

func (l *loader) evaluateSettings(d *decl) {
	b := l.open(d, d.block, d.schema, l.scope(d))
	s := &l.config.Settings
	if version, g := b.text("required_version"); g == isSet {
		s.RequiredVersion = version
		b.checkVersion(version)
	}
	if c := b.singleBlock("cache"); c != nil {
		if dir, g := c.path("dir"); g == isSet {
			s.CacheDir = dir
		}
		names := map[string]bool{}
		for _, r := range c.children("remote") {
			if names[r.label()] {
				r.fail(finding{code: "duplicate", summary: "Duplicate block", rng: r.header, detail: fmt.Sprintf("A remote %q already exists.", r.label())})
			}
			names[r.label()] = true
			s.Remotes = append(s.Remotes, r.remoteCache())
		}
	}
}

var (
	remoteName = lazyregexp.New(`^[a-z][a-z0-9_-]{0,31}$`)
	namespace  = must(func(text string) bool { return namespaceText().MatchString(text) }, "bad-value", "Bad namespace", "%[2]q is not a namespace.", "")
	publicKey  = must(func(text string) bool { return publicKeyText().MatchString(text) }, "bad-value", "Bad public key", "%[2]q is not a public key.", "")

	namespaceText = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$`)
	publicKeyText = lazyregexp.New(`^ed25519:[A-Za-z0-9+/]{43}=( [A-Za-z0-9][A-Za-z0-9._@+/-]{0,63})?$`)
)

// remoteCache reads a cache on another machine.
func (b *block) remoteCache() RemoteCache {
	r := RemoteCache{Name: b.label()}
	if r.Name == "local" || !remoteName().MatchString(r.Name) {
		b.fail(finding{code: "bad-name", summary: "Bad name", rng: b.header, detail: fmt.Sprintf("%q cannot be the name of a remote cache.", r.Name),
			hint: "lower-case letters, digits, - and _, and not local, which is the store"})
	}
	b.fill(&r)
	return r
}

var versionCondition = lazyregexp.New(`^(>=|<=|!=|~>|=|>|<)?\s*v?(\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?)$`)

// checkVersion compares a constraint with the running program. A program without a version number, such as
// a development build, satisfies all constraints.
func (b *block) checkVersion(constraint string) {
	running := "v" + strings.TrimPrefix(b.l.options.Version, "v")
	for condition := range strings.SplitSeq(constraint, ",") {
		m := versionCondition().FindStringSubmatch(strings.TrimSpace(condition))
		if m == nil {
			b.reject("required_version", "bad-version", "Bad version condition",
				fmt.Sprintf("%q is not a version condition.", strings.TrimSpace(condition)), `write such as ">= 0.1, < 2"`)
			return
		}
		if semver.IsValid(running) && !satisfies(running, m[1], "v"+m[2]) {
			b.reject("required_version", "version-mismatch", "Wrong version of fevalgraph",
				fmt.Sprintf("This is fevalgraph %s; the configuration requires %q.", b.l.options.Version, constraint), "")
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
