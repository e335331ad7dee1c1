package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// checkStructure compares every block with the table: unknown names and labels, and missing required ones.
// It needs no values, so it reports each error once, regardless of for_each and dynamic.
func (l *loader) checkStructure() {
	for _, src := range l.sources {
		top := BlockSchema{Name: "configuration", Blocks: l.schema}
		l.checkBody(src.body, &top, "")
	}
}

func (l *loader) checkBody(body *hclsyntax.Body, schema *BlockSchema, owner string) {
	for _, attr := range sortedAttributes(body.Attributes) {
		l.checkAttribute(attr, schema, owner)
	}
	for _, b := range body.Blocks {
		l.checkBlock(b, schema, owner)
	}
}

func (l *loader) checkAttribute(attr *hclsyntax.Attribute, schema *BlockSchema, owner string) {
	if schema.Free {
		return
	}
	known := schema.Attribute(attr.Name)
	f := finding{code: "unknown-attribute", summary: "Unknown attribute", rng: attr.NameRange}
	switch {
	case known != nil:
		return
	case schema.axes:
		f.code, f.summary = "unknown-axis", "Unknown matrix axis"
		f.detail = fmt.Sprintf("No axis is named %q.", attr.Name)
		f.hint = didYouMean(attr.Name, schema.attributeNames(), "")
	case owner == "":
		f.detail = fmt.Sprintf("%q is outside of all blocks.", attr.Name)
		f.hint = "values that others refer to belong in locals { }"
	case schema.Block(attr.Name) != nil:
		f.detail = fmt.Sprintf("Attribute %q is not supported in %s.", attr.Name, owner)
		f.hint = fmt.Sprintf("%s is a block: write it as %s { … }, without \"=\"", attr.Name, attr.Name)
	case schema.Block(strings.TrimSuffix(attr.Name, "s")) != nil:
		f.detail = fmt.Sprintf("Attribute %q is not supported in %s.", attr.Name, owner)
		f.hint = fmt.Sprintf("write a block for each: %s { … }", strings.TrimSuffix(attr.Name, "s"))
	default:
		f.detail = fmt.Sprintf("Attribute %q is not supported in %s.", attr.Name, owner)
		f.hint = didYouMean(attr.Name, schema.attributeNames(), "")
	}
	l.report(f)
}

// checkBlock checks a block in schema's body, including blocks of dynamic blocks.
func (l *loader) checkBlock(b *hclsyntax.Block, schema *BlockSchema, owner string) {
	if b.Type == "dynamic" && owner != "" {
		l.checkDynamic(b, schema, owner)
		return
	}
	known := l.knownBlock(b, b.Type, schema, owner)
	if known == nil || !l.checkLabels(b, known) {
		return
	}
	if known.Kinds != nil {
		if known = l.knownKind(b, known); known == nil {
			return
		}
	}
	l.checkContent(b, b.Body, known)
}

// checkContent checks a block's own body. Missing content is reported at header.
func (l *loader) checkContent(header *hclsyntax.Block, body *hclsyntax.Body, schema *BlockSchema) {
	name := cmp.Or(schema.title, schema.Name)
	owner := "a " + name + " block"
	l.checkBody(body, schema, owner)
	for _, a := range schema.Attributes {
		if a.Required && body.Attributes[a.Name] == nil && !l.isRead(body, schema.Name) {
			l.report(finding{
				code: "missing-attribute", summary: "Missing attribute",
				detail: fmt.Sprintf("A %s block needs the attribute %q.", name, a.Name),
				hint:   a.Name + ": " + a.Doc,
				rng:    header.DefRange(),
			})
		}
	}
}

func (l *loader) checkDynamic(b *hclsyntax.Block, schema *BlockSchema, owner string) {
	if len(b.Labels) != 1 {
		l.report(finding{
			code: "wrong-labels", summary: "Wrong labels",
			detail: "A dynamic block has one label: the kind of block that it makes.",
			hint:   "write dynamic \"asset\" { for_each = … content { … } }",
			rng:    b.DefRange(),
		})
		return
	}
	known := l.knownBlock(b, b.Labels[0], schema, owner)
	if known == nil {
		return
	}
	if known.Free {
		l.report(finding{
			code: "unknown-block", summary: "Unknown block", rng: b.DefRange(),
			detail: fmt.Sprintf("A %s block cannot be made by dynamic: its names must exist before evaluation.", known.Name),
			hint:   "a value can be a map: { for k, v in … : k => … }",
		})
		return
	}
	own := dynamicSchema(known)
	l.checkBody(b.Body, &own, "a dynamic block")
	if b.Body.Attributes["for_each"] == nil {
		l.report(finding{
			code: "missing-attribute", summary: "Missing attribute",
			detail: "A dynamic block needs the attribute \"for_each\".", rng: b.DefRange(),
		})
	}
	contents := 0
	for _, inner := range b.Body.Blocks {
		if inner.Type == "content" {
			contents++
		}
	}
	if contents != 1 {
		l.report(finding{
			code: "missing-block", summary: "Wrong number of content blocks",
			detail: fmt.Sprintf("A dynamic block has one content block, not %d.", contents), rng: b.DefRange(),
		})
	}
}

// dynamicSchema returns the schema of a dynamic block for blocks of kind made.
func dynamicSchema(made *BlockSchema) BlockSchema {
	content := *made
	content.Name, content.Labels, content.title = "content", nil, made.Name
	s := BlockSchema{
		Name: "dynamic", Labels: []string{"kind"}, Repeats: true, Doc: "Makes blocks of the kind of its label.",
		Attributes: []AttributeSchema{
			{Name: "for_each", Type: TypeAny, Required: true, Doc: "A map, set or list: a block is made for each element."},
			{Name: "iterator", Type: TypeNames, Doc: "What content calls the element. The default is the kind of block that is made."},
		},
		Blocks: []BlockSchema{content},
	}
	if len(made.Labels) > 0 {
		s.Attributes = append(s.Attributes, AttributeSchema{Name: "labels", Type: TypeTexts, Required: true, Doc: "Labels of the block that is made."})
	}
	return s
}

func (l *loader) knownBlock(b *hclsyntax.Block, kind string, schema *BlockSchema, owner string) *BlockSchema {
	if known := schema.Block(kind); known != nil {
		return known
	}
	f := finding{code: "unknown-block", summary: "Unknown block", rng: b.DefRange(), hint: didYouMean(kind, schema.blockNames(), "")}
	switch {
	case slices.Contains(schema.later, kind):
		f.code, f.summary = "not-available", "Not available in this version"
		f.detail = fmt.Sprintf("%q in %s is not available in this version.", kind, owner)
		f.hint = "available: " + strings.Join(drivers(schema), ", ")
	case owner == "":
		f.detail = fmt.Sprintf("Block %q is not supported.", kind)
	case schema.Attribute(kind) != nil:
		f.detail = fmt.Sprintf("Block %q is not supported in %s.", kind, owner)
		f.hint = fmt.Sprintf("%s is an attribute: write %s = …", kind, kind)
	default:
		f.detail = fmt.Sprintf("Block %q is not supported in %s.", kind, owner)
	}
	l.report(f)
	return nil
}

func (l *loader) checkLabels(b *hclsyntax.Block, known *BlockSchema) bool {
	if len(b.Labels) == len(known.Labels) {
		return true
	}
	wanted := known.Name
	for _, label := range known.Labels {
		wanted += fmt.Sprintf(" %q", strings.ToUpper(label))
	}
	detail := fmt.Sprintf("A %s block has %d labels, not %d.", known.Name, len(known.Labels), len(b.Labels))
	switch len(known.Labels) {
	case 0:
		detail = fmt.Sprintf("A %s block has no label.", known.Name)
	case 1:
		detail = fmt.Sprintf("A %s block has one label, not %d.", known.Name, len(b.Labels))
	}
	l.report(finding{code: "wrong-labels", summary: "Wrong labels", detail: detail, hint: "write " + wanted + " { … }", rng: b.DefRange()})
	return false
}

// knownKind returns the schema for the block's first label.
func (l *loader) knownKind(b *hclsyntax.Block, known *BlockSchema) *BlockSchema {
	kind := b.Labels[0]
	if merged := known.ForKind(kind); merged != nil {
		return merged
	}
	available := schemaNames(known.Kinds)
	f := finding{
		code: "unknown-kind", summary: fmt.Sprintf("Unknown %s kind", known.Name),
		detail: fmt.Sprintf("No %s kind is named %q.", known.Name, kind),
		hint:   didYouMean(kind, available, ""), rng: b.LabelRanges[0],
	}
	if slices.Contains(known.later, kind) {
		f.code, f.summary = "not-available", "Not available in this version"
		f.detail = fmt.Sprintf("The %s kind %q is not available in this version.", known.Name, kind)
		f.hint = "available: " + strings.Join(available, ", ")
	}
	l.report(f)
	return nil
}

// sortedAttributes returns attributes in source order: hcl keeps them in a map.
func sortedAttributes(attrs hclsyntax.Attributes) []*hclsyntax.Attribute {
	sorted := make([]*hclsyntax.Attribute, 0, len(attrs))
	for _, a := range attrs {
		sorted = append(sorted, a)
	}
	slices.SortFunc(sorted, func(a, b *hclsyntax.Attribute) int {
		return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte)
	})
	return sorted
}
