package lang

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// scope returns the scope of d's expressions: only the declarations that it refers to, so that its cost does
// not grow with the configuration.
func (l *loader) scope(d *decl) *hcl.EvalContext {
	visible := map[string]map[string]cty.Value{} // prefix -> name -> value
	backends := map[string]map[string]cty.Value{}
	for kind := range d.whole {
		if kind != "backend" {
			visible[prefixOf(kind)] = map[string]cty.Value{}
		}
	}
	for _, n := range d.needs {
		l.see(visible, backends, n.to)
	}
	variables := map[string]cty.Value{"path": l.pathValue(d.src)}
	for prefix, values := range visible {
		variables[prefix] = cty.ObjectVal(values)
	}
	if len(backends) > 0 || d.whole["backend"] {
		kinds := map[string]cty.Value{}
		for kind, values := range backends {
			kinds[kind] = cty.ObjectVal(values)
		}
		variables["backend"] = cty.ObjectVal(kinds)
	}
	return &hcl.EvalContext{Variables: variables, Functions: l.library(d.src.dir)}
}

func (l *loader) see(visible, backends map[string]map[string]cty.Value, d *decl) {
	if d.kind == "function" || d.kind == "fevalgraph" {
		return
	}
	into, key := visible, prefixOf(d.kind)
	if d.kind == "backend" {
		into, key = backends, d.path[0]
	}
	if into[key] == nil {
		into[key] = map[string]cty.Value{}
	}
	into[key][d.name()] = d.value
}

// pathValue returns the value of path in the scope of src.
func (l *loader) pathValue(src *source) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"root":   cty.StringVal(l.root),
		"module": cty.StringVal(src.dir),
	})
}

// library returns every function that files of dir can call.
func (l *loader) library(dir string) map[string]function.Function {
	if len(l.functions) == 0 {
		return l.builtins(dir)
	}
	all := maps.Clone(l.builtins(dir))
	maps.Copy(all, l.functions)
	return all
}
