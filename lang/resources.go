package lang

import (
	"strconv"
	"strings"
)

// Resources are the required resources of machines that judge a problem, in the syntax of clouds: "L4:1",
// "8+", "200". They enter no key. Empty strings mean no requirement.
type Resources struct {
	Accelerators, Cloud, Region, Instance, CPUs, Memory, Disk, Image string
	Nodes                                                            string // machines of a cluster, a whole number
}

// resource is a field of Resources and its attribute.
type resource struct {
	name string
	of   func(*Resources) *string
}

// resources returns the fields, in the order of Fields.
func resources() []resource {
	return []resource{
		{"accelerators", func(r *Resources) *string { return &r.Accelerators }},
		{"cloud", func(r *Resources) *string { return &r.Cloud }},
		{"region", func(r *Resources) *string { return &r.Region }},
		{"instance", func(r *Resources) *string { return &r.Instance }},
		{"cpus", func(r *Resources) *string { return &r.CPUs }},
		{"memory", func(r *Resources) *string { return &r.Memory }},
		{"disk", func(r *Resources) *string { return &r.Disk }},
		{"image", func(r *Resources) *string { return &r.Image }},
		{"nodes", func(r *Resources) *string { return &r.Nodes }},
	}
}

// Fields returns the names and the values of the set fields, in a fixed order. Problems with equal fields
// can share machines.
func (r Resources) Fields() (names, values []string) {
	for _, field := range resources() {
		if value := *field.of(&r); value != "" {
			names, values = append(names, field.name), append(values, value)
		}
	}
	return names, values
}

// Over returns r with the values of base for fields that r does not set.
func (r Resources) Over(base Resources) Resources {
	for _, field := range resources() {
		if own := field.of(&r); *own == "" {
			*own = *field.of(&base)
		}
	}
	return r
}

// String lists the set fields, such as "cpus=2,memory=4". Different Resources have different strings.
func (r Resources) String() string {
	names, values := r.Fields()
	for i, value := range values {
		if strings.ContainsAny(value, ",=\"\\") {
			value = strconv.Quote(value)
		}
		names[i] += "=" + value
	}
	return strings.Join(names, ",")
}

// ResourcesSchema returns the block resources of a problem.
func ResourcesSchema() BlockSchema {
	docs := map[string]string{
		"accelerators": "Accelerators and how many: \"L4:1\".", "cloud": "Cloud: \"gcp\".", "region": "Region of the cloud.",
		"instance": "Type of machine.", "cpus": "Processors: \"8\", or \"8+\" for at least so many.",
		"memory": "Memory in GiB: \"16\", or \"16+\".", "disk": "Disk in GiB.", "image": "Image of the machine.",
		"nodes": "Machines that a cluster has; 1 if it is left out.",
	}
	schema := BlockSchema{
		Name: "resources",
		Doc:  "Hardware that the problem needs. Backends that launch machines launch these; on others it has no effect. It is in no key.",
	}
	for _, field := range resources() {
		kind := TypeText
		if field.name == "nodes" {
			kind = TypeInteger
		}
		schema.Attributes = append(schema.Attributes, AttributeSchema{Name: field.name, Type: kind, Doc: docs[field.name]})
	}
	return schema
}

// resources reads the resources block of a problem.
func (b *block) resources() (r Resources) {
	own := b.singleBlock("resources")
	if own == nil {
		return r
	}
	for _, field := range resources() {
		if field.name != "nodes" {
			text, _ := own.text(field.name)
			*field.of(&r) = strings.TrimSpace(text)
		}
	}
	if nodes, g := own.integer("nodes"); g == isSet {
		r.Nodes = strconv.Itoa(nodes)
	}
	return r
}
