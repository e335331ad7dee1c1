package lang

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// finding is an unfinished diagnostic. If expr and ctx are set, it shows the values of the references in
// the expression.
type finding struct {
	warning bool
	code    string
	summary string
	detail  string
	hint    string
	rng     hcl.Range // zero if unknown
	expr    hcl.Expression
	ctx     *hcl.EvalContext
	unshown bool // the source contains a sensitive value
}

// reportKey identifies a finding, since instances of a for_each repeat findings.
type reportKey struct {
	code, detail, summary string
	rng                   hcl.Range
}

// maxSnippet limits the lines of source that a diagnostic shows.
const maxSnippet = 8

// reporter turns findings into diagnostics.
type reporter struct {
	shown     map[string]*source // by the Filename of their ranges
	instance  string             // name of the only instance that the findings are about: problem.x["a"]
	reported  map[reportKey]bool
	findings  diag.List
	sensitive []string // values that must not be shown
	doubt     *finding // the first expression without a value
}

func newReporter() reporter {
	return reporter{shown: map[string]*source{}, reported: map[reportKey]bool{}}
}

func (r *reporter) report(f finding) {
	key := reportKey{f.code, f.detail, f.summary, f.rng}
	if r.reported[key] {
		return
	}
	r.reported[key] = true
	d := diag.Diagnostic{Severity: diag.Error, Code: f.code, Summary: f.summary, Detail: f.detail, Hint: f.hint}
	if f.warning {
		d.Severity = diag.Warning
	}
	if f.rng.Filename != "" {
		at := convertRange(f.rng)
		d.Range = &at
		if src := r.shown[f.rng.Filename]; src != nil {
			if !f.unshown {
				d.Snippet = src.snippet(f.rng)
			}
			d.Context = r.context(src.enclosing(f.rng))
			d.Values = referenceValues(src, f.expr, f.ctx)
			d.Fix = fixOf(src, f)
		}
	}
	d.Detail, d.Hint = r.scrub(d.Detail), r.scrub(d.Hint)
	for i := range d.Values {
		d.Values[i].Value = r.scrub(d.Values[i].Value)
	}
	r.findings = append(r.findings, d)
}

// reportDoubt reports the expression without a value unless an error was found that can be the reason: a
// failure must not be silent.
func (r *reporter) reportDoubt() {
	if r.doubt != nil && !r.findings.HasErrors() {
		r.report(*r.doubt)
	}
}

// context replaces a block by its instance, or adds the instance to the text about another block.
func (r *reporter) context(blocks string) string {
	if r.instance == "" {
		return blocks
	}
	if blocks == "" { // a file in another format than HCL
		return r.instance
	}
	outer, inner, nested := strings.Cut(blocks, " > ")
	kind, _, _ := strings.Cut(r.instance, ".")
	switch {
	case !strings.HasPrefix(outer, kind+" "):
		return r.instance + " > " + blocks
	case nested:
		return r.instance + " > " + inner
	}
	return r.instance
}

// keepSecret marks the texts in a sensitive value for scrubbing: functions get values without their marks
// and repeat them in their errors.
func (r *reporter) keepSecret(v cty.Value) {
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) {
		if !part.IsKnown() || part.IsNull() || !part.Type().IsPrimitiveType() || part.Type() == cty.Bool {
			return true, nil
		}
		if text, err := convert.Convert(part, cty.String); err == nil && text.AsString() != "" {
			r.sensitive = append(r.sensitive, text.AsString())
		}
		return true, nil
	})
}

// scrub replaces sensitive values in a text. A very short one is replaced only in quotes: anywhere else it
// can be part of a word.
func (r *reporter) scrub(text string) string {
	for _, s := range r.sensitive {
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, maskedText)
		}
		text = strings.ReplaceAll(text, strconv.Quote(s), strconv.Quote(maskedText))
	}
	return text
}

// reportHCL reports a diagnostic of the hcl library. A non-empty code overrides the code for its summary.
func (r *reporter) reportHCL(h *hcl.Diagnostic, code string) {
	r.report(fromHCL(h, code))
}

func fromHCL(h *hcl.Diagnostic, code string) finding {
	f := finding{
		warning: h.Severity == hcl.DiagWarning,
		code:    code, summary: h.Summary, detail: h.Detail, expr: h.Expression, ctx: h.EvalContext,
	}
	if h.Subject != nil {
		f.rng = *h.Subject
	}
	var outside *funcs.OutsideError
	if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](h); ok && errors.As(call.FunctionCallError(), &outside) {
		return f.outside(outside)
	}
	if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](h); ok && funcs.IsGuard(call.CalledFunctionName()) && call.FunctionCallError() != nil {
		f.code, f.summary, f.detail = "too-large", "Value too large", "It cannot be used: "+call.FunctionCallError().Error()+"."
		return f
	}
	if h.Summary == "Attribute redefined" {
		f.code, f.summary = "duplicate", "Duplicate attribute"
		f.detail = strings.Replace(strings.Replace(f.detail, "The argument", "The attribute", 1), "Each argument may be set only once", "Each can be set only once", 1)
	}
	if f.code == "" {
		f.code = evaluationCode(h.Summary)
	}
	if strings.HasSuffix(f.detail, "..") { // errors of functions already end with a full stop
		f.detail = strings.TrimRight(f.detail, ".") + "."
	}
	// the library includes suggestions in its sentences; here hints are separate
	if before, after, found := strings.Cut(f.detail, " Did you mean "); found {
		f.detail, f.hint = before, "did you mean "+after
	}
	if name, candidates := missingStep(h); f.hint == "" && name != "" {
		f.hint = didYouMean(name, candidates, "")
	}
	return f
}

// evaluationCode maps the summaries of the hcl library to stable codes.
func evaluationCode(summary string) string {
	switch summary {
	case "Unsupported attribute", "Unknown variable", "Invalid index", "Missing map element":
		return "unknown-reference"
	case "Call to unknown function":
		return "unknown-function"
	case "Error in function call", "Invalid function argument", "Not enough function arguments", "Too many function arguments",
		"Invalid expanding argument value":
		return "function-call"
	case "Duplicate object key":
		return "duplicate"
	}
	return "evaluation"
}

func convertRange(r hcl.Range) diag.Range {
	return diag.Range{
		File:  r.Filename,
		Start: diag.Pos{Line: r.Start.Line, Column: r.Start.Column, Byte: r.Start.Byte},
		End:   diag.Pos{Line: r.End.Line, Column: r.End.Column, Byte: r.End.Byte},
	}
}

func hclRange(r diag.Range) hcl.Range {
	return hcl.Range{
		Filename: r.File,
		Start:    hcl.Pos{Line: r.Start.Line, Column: r.Start.Column, Byte: r.Start.Byte},
		End:      hcl.Pos{Line: r.End.Line, Column: r.End.Column, Byte: r.End.Byte},
	}
}

// snippet returns the lines of r.
func (s *source) snippet(r hcl.Range) []string {
	lines := strings.Split(string(s.bytes), "\n")
	first, last := r.Start.Line-1, r.End.Line-1
	if r.End.Column == 1 && last > first { // the range ends with a newline
		last--
	}
	if first < 0 || first >= len(lines) {
		return nil
	}
	last = min(last, len(lines)-1, first+maxSnippet-1)
	lines = lines[first : last+1]
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// enclosing names the blocks around r, outermost first.
func (s *source) enclosing(r hcl.Range) string {
	if s.body == nil {
		return ""
	}
	var names []string
	body := s.body
descend:
	for {
		for _, b := range body.Blocks {
			whole := hcl.RangeBetween(b.TypeRange, b.CloseBraceRange)
			if whole.Start.Byte <= r.Start.Byte && r.Start.Byte < whole.End.Byte {
				names = append(names, blockTitle(b.Type, b.Labels))
				body = b.Body
				continue descend
			}
		}
		return strings.Join(names, " > ")
	}
}

// blockTitle returns a block's header as written: problem "kvstore".
func blockTitle(kind string, labels []string) string {
	for _, label := range labels {
		kind += fmt.Sprintf(" %q", label)
	}
	return kind
}

// missingStep returns the name that a lookup did not find, and the existing names.
func missingStep(h *hcl.Diagnostic) (string, []string) {
	if h.Expression == nil || h.EvalContext == nil || h.Subject == nil {
		return "", nil
	}
	expr, ok := h.Expression.(hclsyntax.Expression)
	if !ok {
		return "", nil
	}
	for _, t := range expr.Variables() {
		if name, candidates := failingStep(t, h.EvalContext); name != "" {
			return name, candidates
		}
	}
	return "", nil
}

// unnormalized returns the name of a file that differs from a missing path only in its Unicode
// normal form. The language normalises text; the disk does not.
func unnormalized(missing error) string {
	var failed *fs.PathError
	if !errors.As(missing, &failed) {
		return ""
	}
	for at := failed.Path; at != filepath.Dir(at); at = filepath.Dir(at) {
		entries, err := os.ReadDir(filepath.Dir(at))
		for _, e := range entries {
			if e.Name() != filepath.Base(at) && cty.NormalizeString(e.Name()) == cty.NormalizeString(filepath.Base(at)) {
				return e.Name()
			}
		}
		if err == nil {
			break
		}
	}
	return ""
}

// pathReason explains the error of a path.
func pathReason(shown string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if name := unnormalized(err); name != "" {
			return fmt.Sprintf("%q not found: the file name %+q is not in Unicode normal form C.", shown, name)
		}
		return fmt.Sprintf("%q not found.", shown)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("%q not found: a part of the path is a file.", shown)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Sprintf("%q is in a loop of symbolic links.", shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%q is not readable.", shown)
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Sprintf("%q: %v.", filepath.ToSlash(shown), err)
}
