package lang

import "github.com/zclconf/go-cty/cty"

func (l *loader) evaluatePool(d *decl) cty.Value {
	value := map[string]cty.Value{"ref": cty.StringVal(d.addr()), "name": cty.StringVal(d.name())}
	if d.block == nil { // cpu: its size is not configuration
		return cty.ObjectVal(value)
	}
	b := l.open(d, d.block, d.schema, l.scope(d))
	if slots, g := b.integer("slots"); g.usable() {
		d.made = Pool{Name: d.name(), Slots: slots, Range: convertRange(d.header)}
		value["slots"] = cty.NumberIntVal(int64(slots))
	}
	return cty.ObjectVal(value)
}
