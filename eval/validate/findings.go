package validate

import (
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Findings are all that is wrong with a configuration, and what is worth a warning, sorted by
// place: found is what loading it found, and imports what earlier calls have, if any.
func Findings(cfg *lang.Config, found diag.List, imports *Imports) diag.List {
	all := append(append(diag.List(nil), found...), Invalid(cfg)...)
	if !all.HasErrors() {
		all = append(all, gaps(cfg, imports)...)
	}
	all.Sort()
	return all
}
