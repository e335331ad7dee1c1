package lang

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// include adds the files that src's fevalgraph block names. This happens before any evaluation, so they
// can only refer to path.*.
func (l *loader) include(src *source) {
	for _, syntax := range src.body.Blocks {
		if syntax.Type != "fevalgraph" {
			continue
		}
		attr := syntax.Body.Attributes["include"]
		if attr == nil {
			continue
		}
		ctx := &hcl.EvalContext{
			Variables: map[string]cty.Value{"path": l.pathValue(src)},
			Functions: l.library(src.dir),
		}
		b := &block{l: l, src: src, schema: l.topSchema("fevalgraph"), attrs: syntax.Body.Attributes, ctx: ctx, header: syntax.DefRange(), decl: &decl{}}
		if !l.staticOnly(attr) {
			l.unresolved = true
			continue
		}
		patterns, given := b.texts("include")
		if given == isFailed {
			l.unresolved = true
		}
		for _, pattern := range patterns {
			l.includePattern(src, b, pattern)
		}
	}
}

func (l *loader) includePattern(src *source, b *block, pattern string) {
	at := b.at("include")
	if !isGlob(pattern) {
		l.addSource(l.resolve(src, pattern), &at)
		return
	}
	dir, rest := splitGlob(l.resolve(src, pattern))
	l.input("fileset", dir+"\x00"+rest)
	names, err := funcs.Glob(dir, l.show(dir), rest)
	if err != nil {
		at.code, at.summary, at.detail = "unreadable-file", "Unreadable file", err.Error()
		l.report(at)
		l.unresolved = true
		return
	}
	if len(names) == 0 {
		at.code, at.summary, at.detail = "empty-glob", "Nothing to include", fmt.Sprintf("No file matches %q.", pattern)
		l.report(at)
		l.unresolved = true
	}
	for _, name := range names {
		l.addSource(filepath.Join(dir, name), &at)
	}
}

// staticOnly reports references to anything but path.*.
func (l *loader) staticOnly(attr *hclsyntax.Attribute) bool {
	ok := true
	for _, t := range attr.Expr.Variables() {
		if t.RootName() != "path" {
			l.report(finding{
				code: "unknown-reference", summary: "Reference not allowed here",
				detail: "Files are included before other values exist, so only path.root and path.module can be used.",
				rng:    t.SourceRange(),
			})
			ok = false
		}
	}
	return ok
}
