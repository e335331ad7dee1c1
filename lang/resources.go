package lang

import (
	"strings"
)

// Resources are what machines need to have that judge a problem, as texts of
// clouds' own: "L4:1", "8+", "200". They enter no key. Empty texts ask for
// nothing.
type Resources struct {
	Accelerators, Cloud, Region, Instance, CPUs, Memory, Disk, Image string
}

// resourceNames are the attributes, in the order of Fields.
func resourceNames() []string {
	return []string{"accelerators", "cloud", "region", "instance", "cpus", "memory", "disk", "image"}
}

// Fields are the names and the values that are set, in an order of their own.
// Problems for which they are equal can share machines.
func (r Resources) Fields() (names, values []string) {
	for i, value := range []string{r.Accelerators, r.Cloud, r.Region, r.Instance, r.CPUs, r.Memory, r.Disk, r.Image} {
		if value != "" {
			names, values = append(names, resourceNames()[i]), append(values, value)
		}
	}
	return names, values
}

func resourcesSchema() BlockSchema {
	docs := map[string]string{
		"accelerators": "Accelerators and how many: \"L4:1\".", "cloud": "Cloud: \"gcp\".", "region": "Region of the cloud.",
		"instance": "Type of machine.", "cpus": "Processors: \"8\", or \"8+\" for at least so many.",
		"memory": "Memory in GiB: \"16\", or \"16+\".", "disk": "Disk in GiB.", "image": "Image of the machine.",
	}
	schema := BlockSchema{
		Name: "resources",
		Doc:  "What machines need to have that judge the problem. Problems that ask for the same are in one group, which `fevalgraph plan --json` shows. No backend of this version heeds it, and it is in no key.",
	}
	for _, name := range resourceNames() {
		schema.Attributes = append(schema.Attributes, AttributeSchema{Name: name, Type: TypeText, Doc: docs[name]})
	}
	return schema
}

// resources reads the resources block of a problem.
func (b *block) resources() Resources {
	own := b.only("resources")
	if own == nil {
		return Resources{}
	}
	read := func(name string) string {
		text, _ := own.text(name)
		return strings.TrimSpace(text)
	}
	return Resources{
		Accelerators: read("accelerators"), Cloud: read("cloud"), Region: read("region"), Instance: read("instance"),
		CPUs: read("cpus"), Memory: read("memory"), Disk: read("disk"), Image: read("image"),
	}
}
