package scbench

import (
	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Values of config.yaml that no agent sees: descriptions, which nothing reads, and those of tests. All others, also
// unknown ones, agents see.
var (
	described = lazyregexp.New(`^(version|name|description|category|difficulty|author|inspiration|tags\b.*|checkpoints\.[^.]+\.(name|version|state))$`)
	tests     = lazyregexp.New(`^(timeout|(test_dependencies|markers|env)\b.*|checkpoints\.[^.]+\.(timeout|include_prior_tests|env\b.*))$`)
)

// seenBlock separates what agents see from what grades. A checkpoint's spec is seen from it on. What nodes have of the tests is
// in rules only if the problem has errors, as it has no nodes then.
func (c *config) seenBlock() lang.MadeBlock {
	settings, rules := map[string]string{}, map[string]string{}
	for _, leaf := range document.Leaves(c.Root) {
		name := "config.yaml " + leaf.Path
		switch {
		case described().MatchString(leaf.Path):
		case !tests().MatchString(leaf.Path):
			settings[name] = leaf.Value
		case c.Mistakes.HasErrors():
			rules[name] = leaf.Value
		}
	}
	from := map[string]string{}
	for _, name := range document.Keys(document.At(c.Root, "checkpoints")) {
		from[name] = "config.yaml checkpoints." + lang.EscapeGlob(name) + ".*"
	}
	return lang.MadeBlock{Kind: "seen", Made: lang.Made{Attributes: map[string]any{
		"grading": []string{"tests/**", "pytest.ini"}, "ignored": []string{"config.yaml", "README.md", "solution/**", "solutions/**"},
		"from": from, "settings": settings, "rules": rules,
	}}}
}
