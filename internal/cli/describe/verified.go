package describe

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/provenance"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// Verified returns lines about the verification of a bundle.
func Verified(v *eval.Verified) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s, %s on %s\n", v.Run, text.Count(len(v.Entries.Verdicts), "verdict"), text.Count(len(v.Entries.Nodes), "node"))
	fmt.Fprintf(&b, "entries sha256:%s\n", v.Digest)
	for _, f := range v.Findings {
		what := f.What
		if f.Name != "" {
			what += " of " + f.Name
		}
		fmt.Fprintf(&b, "WRONG %s: %s\n", what, f.Message)
	}
	if len(v.Findings) == 0 {
		fmt.Fprintf(&b, "signed, %s\n", standing(v))
	}
	if v.Again == nil {
		return b.String()
	}
	for _, d := range v.Again.Different {
		cause := "no different inputs found"
		if len(d.Causes) > 0 {
			cause = "from other inputs: " + strings.Join(d.Causes, ", ")
		}
		fmt.Fprintf(&b, "different: %s, %s\n", d.Addr, cause)
	}
	b.WriteString(unjudged(v.Again))
	for _, one := range v.Moved {
		fmt.Fprintf(&b, "same, from other inputs: %s: %s\n", one.Addr, strings.Join(one.Causes, ", "))
	}
	moved := ""
	if len(v.Moved) > 0 {
		moved = fmt.Sprintf(", %d the same with other inputs, which proves nothing about the bundle", len(v.Moved))
	}
	fmt.Fprintf(&b, "produced %d again: %d different%s\n", v.Again.Checked, len(v.Again.Different), moved)
	return b.String()
}

// Audited returns lines about the comparison of repeated results.
func Audited(r *eval.Audited) string {
	var b strings.Builder
	for _, one := range r.Different {
		fmt.Fprintf(&b, "different: %s\n", one.Addr)
	}
	b.WriteString(unjudged(r))
	fmt.Fprintf(&b, "checked %d of %s: %d different\n", r.Checked, text.Count(r.Stored, "stored result"), len(r.Different))
	return b.String()
}

func unjudged(r *eval.Audited) string {
	var b strings.Builder
	for _, one := range r.Unjudged {
		fmt.Fprintf(&b, "could not be produced again: %s: %s\n", one.Addr, one.Message)
	}
	return b.String()
}

// standing describes the evidence for verdicts without a finding.
func standing(v *eval.Verified) string {
	rest := len(v.Entries.Verdicts) - v.Proven - v.Imported - v.Unjudged
	parts := []string{fmt.Sprintf("%d proven by their results and manifests", v.Proven)}
	for _, p := range []struct {
		n    int
		what string
	}{{rest, "stated by the signer (tests are withheld)"}, {v.Imported, "judged by another tool"}, {v.Unjudged, "not judged"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// VerifiedObject is Verified as JSON.
type VerifiedObject struct {
	Schema   int                  `json:"schema"`
	Run      string               `json:"run"`
	Version  string               `json:"version"`
	Digest   string               `json:"digest"` // hexadecimal digits
	Signed   bool                 `json:"signed"`
	Withheld []string             `json:"withheld"`
	Nodes    int                  `json:"nodes"`
	Verdicts int                  `json:"verdicts"`
	Proven   int                  `json:"proven"`
	Imported int                  `json:"imported"`
	Unjudged int                  `json:"unjudged"`
	Findings []provenance.Finding `json:"findings"`
	Rerun    *Rerun               `json:"rerun,omitempty"`
}

// Rerun lists the verdicts of a bundle that were repeated.
type Rerun struct {
	Checked   int                   `json:"checked"`
	Different []eval.AuditedResult  `json:"different"`
	Moved     []eval.AuditedResult  `json:"other_inputs"` // same result with other inputs
	Unjudged  []eval.AuditedProblem `json:"unjudged"`
}

// VerifiedJSON returns Verified for programs.
func VerifiedJSON(v *eval.Verified) *VerifiedObject {
	object := &VerifiedObject{Schema: 1, Run: v.Run, Version: v.Version, Digest: v.Digest, Signed: v.Signed, Withheld: view.OrEmpty(v.Withheld), Nodes: len(v.Entries.Nodes),
		Verdicts: len(v.Entries.Verdicts), Proven: v.Proven, Imported: v.Imported, Unjudged: v.Unjudged, Findings: view.OrEmpty(v.Findings)}
	if v.Again != nil {
		object.Rerun = &Rerun{Checked: v.Again.Checked, Different: view.OrEmpty(v.Again.Different), Moved: view.OrEmpty(v.Moved), Unjudged: view.OrEmpty(v.Again.Unjudged)}
	}
	return object
}
