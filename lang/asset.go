package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

var sha256Text = lazyregexp.New(`^[0-9a-f]{64}$`)

// assets reads the asset blocks of a problem (owner "") or checkpoint.
func (b *block) assets(owner string) []Asset {
	all := b.children("asset")
	b.eachNameOnce(all)
	var made []Asset
	for _, a := range all {
		made = append(made, a.asset(owner))
	}
	return made
}

func (b *block) asset(owner string) Asset {
	a := Asset{Name: b.label(), Owner: owner, Range: convertRange(b.header)}
	single := b.assetSource(&a)
	a.Target = b.targetOr(a.Name, "below the assets directory")
	b.fill(&a)
	sum, g := b.text("sha256")
	a.SHA256 = strings.ToLower(sum)
	switch {
	case g != isSet:
	case !sha256Text().MatchString(a.SHA256):
		b.reject("sha256", "bad-value", "Bad digest", "sha256 must be 64 hexadecimal digits.", "`sha256sum FILE` prints it")
	case !single:
		b.reject("sha256", "bad-value", "Digest of several files", "sha256 is the digest of a single file; the source is a directory or a glob.", "")
	}
	return a
}

// targetOr reads target.
func (b *block) targetOr(name, where string) string {
	target, g := b.text("target")
	if g == isAbsent || g == isNull {
		target = name
	}
	if g.usable() && !isRelativeInside(target) {
		b.reject("target", "bad-path", "Bad target", fmt.Sprintf("%q is not a plain relative path %s.", target, where), "no leading \"/\" and no \"..\"")
	}
	return target
}

// assetSource reads and checks source. It reports whether it is a single file.
func (b *block) assetSource(a *Asset) (single bool) {
	if a.From = b.filesOutput("source"); a.From != nil {
		for _, name := range []string{"mode", "sha256"} {
			b.reportUnused(name, "Outputs of tasks are used unchanged.")
		}
		return true
	}
	written, g := b.text("source")
	if g != isSet {
		return true // it cannot be checked further
	}
	source, g := b.path("source")
	if g != isSet {
		return true
	}
	a.Source = source
	if !filepath.IsAbs(written) && !subpath.Contains(b.l.root, source) {
		b.reject("source", "path-escape", "Path leaves the project", fmt.Sprintf("%q is outside of the project directory.", written), "an absolute path can be anywhere")
		return true
	}
	if isGlob(written) {
		b.l.input("exists", source)
		if _, err := os.Lstat(source); err != nil { // the file with exactly that name is missing
			b.globSource(a, written)
			return false
		}
	}
	info, ok := b.stat("source", source, "it is relative to "+b.l.show(b.src.path))
	return !ok || info.Mode().IsRegular()
}

// globSource checks that a pattern matches something. It is not expanded
// here: text of the language is normalised, names on disk are not.
func (b *block) globSource(a *Asset, written string) {
	a.IsGlob = true
	if !filepath.IsAbs(written) {
		a.Source = filepath.Join(EscapeGlob(b.src.dir), written)
	}
	if !doublestar.ValidatePattern(written) {
		b.reject("source", "bad-pattern", "Bad pattern", fmt.Sprintf("%q is not a valid pattern.", written), "")
		return
	}
	dir, rest := splitGlob(a.Source)
	b.l.input("fileset", dir+"\x00"+rest)
	found, err := matchesAny(a.Source)
	switch {
	case err != nil:
		b.reject("source", "unreadable-file", "Unreadable files", pathReason(written, err), "")
	case !found:
		b.reject("source", "empty-glob", "Pattern without a match", fmt.Sprintf("Nothing matches %q.", written), "it is relative to "+b.l.show(b.src.path))
	}
}

// eachTargetOnce reports two assets with the same target.
func (b *block) eachTargetOnce(assets []Asset) {
	first := map[string]Asset{}
	for _, a := range assets {
		before, taken := first[a.Target]
		if !taken {
			first[a.Target] = a
			continue
		}
		b.fail(finding{
			code: "duplicate", summary: "Duplicate target", rng: hclRange(a.Range),
			detail: fmt.Sprintf("The assets %q (line %d) and %q (line %d) both have the target %q.", before.Name, before.Range.Start.Line, a.Name, a.Range.Start.Line, a.Target),
		})
	}
}
