package validate

import (
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Findings returns all errors and warnings about a configuration, sorted by position: found are the findings
// of loading it, and imports the results of earlier calls, if any.
func Findings(cfg *lang.Config, found diag.List, imports *Imports) diag.List {
	all := append(append(diag.List(nil), found...), Invalid(cfg)...)
	if !all.HasErrors() {
		all = append(all, gaps(cfg, imports)...)
	}
	all.Sort()
	return all
}
