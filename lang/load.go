package lang

import (
	"context"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// Load reads a configuration. It returns all findings, sorted by position. If any is an error, the Config
// is incomplete and must not be run.
func Load(o Options) (*Config, diag.List) {
	loaded, failed := make(chan *loader, 1), make(chan any, 1)
	load := func() {
		defer func() {
			if p := recover(); p != nil {
				failed <- p
			}
		}()
		l := newLoader(context.Background(), o)
		l.load()
		l.findings.Sort()
		loaded <- l
	}
	if o.Done == nil {
		load()
	} else {
		go load() // evaluation can take arbitrarily long and cannot be cancelled, except by ending the process
	}
	select {
	case l := <-loaded:
		return l.config, l.findings
	case p := <-failed:
		panic(p)
	case <-o.Done:
		return &Config{}, diag.List{{Severity: diag.Error, Code: "interrupted", Summary: "Interrupted", Detail: "The evaluation of the configuration was not completed."}}
	}
}

// loader is the state of one Load.
type loader struct {
	ctx     context.Context // after its end, the result is not used
	options Options
	base    string // absolute Options.Dir: names of files are shown relative to it
	root    string // absolute directory of the main file
	schema  []BlockSchema
	config  *Config
	reporter

	sources []*source // in evaluation order: main, siblings, includes
	read    map[ConfigInput]bool

	decls     []*decl // in source order
	byAddr    map[string]*decl
	bad       map[hcl.Range]bool // expressions with an unresolved reference
	functions map[string]function.Function
	libraries map[string]map[string]function.Function // by directory

	defaults   map[string]cty.Value // by their text in the table
	outside    assignments
	given      []string          // real paths from the values that the user passed
	real       map[string]string // directories without symbolic links
	instances  instances
	results    map[string]recordedFiles // by directory and patterns
	calling    sync.Mutex               // see Expr
	unresolved bool                     // a file did not parse, so evaluation is useless
	tolerant   bool                     // use the readable part of files with syntax errors
	uses       []use
	budget     funcs.Budget // of its expressions
}

func newLoader(ctx context.Context, o Options) *loader {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	return &loader{
		ctx:       ctx,
		options:   o,
		schema:    o.table(),
		config:    &Config{},
		reporter:  newReporter(),
		read:      map[ConfigInput]bool{},
		byAddr:    map[string]*decl{},
		bad:       map[hcl.Range]bool{},
		functions: map[string]function.Function{},
		real:      map[string]string{},
		libraries: map[string]map[string]function.Function{},
		defaults:  map[string]cty.Value{},
		instances: newInstances(),
		results:   map[string]recordedFiles{},
	}
}

func (l *loader) load() {
	l.readSources()
	if l.unresolved {
		return
	}
	l.checkStructure()
	l.declare()
	l.readAssignments()
	l.readGiven()
	l.resolveAll()
	order := l.evaluationOrder(l.decls)
	for _, d := range l.decls {
		d.own = l.evaluationOrder(d.own)
	}
	l.silenceFunctions()
	for _, d := range order {
		if l.ctx.Err() != nil {
			return
		}
		l.evaluate(d)
	}
	if err := l.budget.Exceeded(); err != nil && !l.findings.HasErrors() { // an expression went on without a value
		l.report(finding{code: "too-large", summary: "Configuration too large", detail: "It cannot be evaluated: " + err.Error() + "."})
	}
	l.reportDoubt()
	l.assemble()
	if l.options.AdHoc != nil {
		l.addAdHoc(*l.options.AdHoc)
	}
	if l.options.References > 0 {
		l.addReferences()
	}
	l.addRecords(l.options.Recorded)
}

// input records that evaluation depends on a file or variable besides the HCL text.
func (l *loader) input(kind, name string) {
	in := ConfigInput{Kind: kind, Name: name}
	if !l.read[in] {
		l.read[in] = true
		l.config.Inputs = append(l.config.Inputs, in)
	}
}

// resolve makes a path in the file src absolute.
func (l *loader) resolve(src *source, path string) string {
	return l.files(src.dir).Resolve(path)
}
