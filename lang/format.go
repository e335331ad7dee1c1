package lang

import (
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Format returns src in canonical form. Text with syntax errors is returned
// unchanged, with the errors.
func Format(filename string, src []byte) ([]byte, diag.List) {
	r := newReporter()
	r.shown[filename] = &source{shown: filename, bytes: src}
	_, problems := parseConfig(src, filename)
	for _, p := range problems {
		r.reportHCL(p, "syntax")
	}
	r.findings.Sort()
	if r.findings.HasErrors() {
		return src, r.findings
	}
	return hclwrite.Format(src), r.findings
}
