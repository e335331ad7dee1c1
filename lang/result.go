package lang

import (
	"fmt"
	"slices"
	"strings"
)

func (l *loader) evaluateResult(d *decl) {
	b := l.open(d, d.block, d.schema, l.scope(d))
	r := &Result{Name: d.name(), Range: convertRange(d.header)}
	r.From = b.suite("from")
	r.Where = b.expression("where", CellsShape, true)
	b.fill(r)
	metrics := b.children("metric")
	b.eachNameOnce(metrics)
	columns := slices.Clone(r.GroupBy)
	for _, m := range metrics {
		metric := Metric{Name: m.label(), Range: convertRange(m.header)}
		m.fill(&metric)
		m.measured(&metric)
		r.Metrics = append(r.Metrics, metric)
		columns = append(columns, metric.Name)
	}
	for _, key := range r.Sort {
		name := strings.TrimPrefix(key, "-")
		if !slices.Contains(columns, name) {
			b.reject("sort", "unknown-value", "Unknown column", fmt.Sprintf("%q is neither a metric nor in group_by.", name), didYouMean(name, columns, ""))
		}
	}
	d.made = r
}

// measured reads the attribute that defines how a metric computes its value. Exactly
// one must be set.
func (b *block) measured(m *Metric) {
	m.Value = b.expression("value", CellsShape, false)
	ways := 0
	for _, has := range []bool{m.Value != nil, m.PassAt > 0, m.BestOf > 0, m.Elo} {
		if has {
			ways++
		}
	}
	if ways == 1 || ways == 0 && b.decl.failed {
		return
	}
	b.fail(finding{
		code: "bad-value", summary: "Invalid combination of attributes", rng: b.header,
		detail: "A metric has exactly one of value, pass_at, best_of and elo.", hint: `write value = self.score, or elo = true`,
	})
}

func (l *loader) evaluateExport(d *decl) {
	b := l.open(d, d.block, d.schema, l.scope(d))
	e := &Export{Kind: d.path[0], Name: d.path[1], Range: convertRange(d.header)}
	e.From = b.suite("from")
	b.fill(e)
	if e.Path != "" && !l.within(e.Path) {
		b.reject("path", "outside-project", "Export outside of the project",
			fmt.Sprintf("%q is outside of the project. Exports are written into its directory, and into directories that the user passes as the value of a variable.", l.show(e.Path)), placeHint)
	}
	d.made = e
	for _, other := range l.decls {
		if before, ok := other.made.(*Export); ok && other != d && e.Path != "" && before.Path == e.Path {
			b.reject("path", "duplicate", "Duplicate path",
				fmt.Sprintf("%s already writes %q.", other.title(), l.show(e.Path)), "")
		}
	}
}

// suite reads an attribute that names a suite; nil if it does not.
func (b *block) suite(name string) *Suite {
	ref, g := b.reference(name, TypeSuite, "suite.")
	if g != isSet {
		return nil
	}
	return b.l.instances.suites[ref]
}
