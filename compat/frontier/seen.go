package frontier

import (
	"regexp"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
)

// prompted are the values of a research problem's config.yaml that prompts have.
var prompted = lazyregexp.New(`^runtime\.(environment|requires_gpu|docker\.gpu|resources\b.*)$`)

// seenBlock separates what models see of a problem, its text and the values of config.yaml that prompts have, from files for
// grading. What nodes have of config.yaml is in rules only if the problem has errors, as it has no nodes then.
func seenBlock(config *document.File, prompted *regexp.Regexp, grading ...string) lang.MadeBlock {
	settings, rules := map[string]string{}, map[string]string{}
	for _, leaf := range document.Leaves(config.Root) {
		name := "config.yaml " + leaf.Path
		switch {
		case prompted != nil && prompted.MatchString(leaf.Path):
			settings[name] = leaf.Value
		case config.Mistakes.HasErrors():
			rules[name] = leaf.Value
		}
	}
	return lang.MadeBlock{Kind: "seen", Made: lang.Made{Attributes: map[string]any{
		"grading": grading, "ignored": []string{"config.yaml", "reference.*", "examples/reference.*"}, "settings": settings, "rules": rules,
	}}}
}
