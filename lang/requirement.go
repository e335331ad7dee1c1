package lang

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// requirementForm is a Python requirement as PEP 508 has it: a name, extras, versions or
// an address, and a marker.
var requirementForm = lazyregexp.New(`^\s*[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\s*(?:\[[A-Za-z0-9._,\s-]*\]\s*)?` +
	`(?:@\s*\S.*|\(?\s*(?:` + versionForm + `(?:\s*,\s*` + versionForm + `)*)?\s*,?\s*\)?\s*(?:;.+)?)$`)

const versionForm = `(?:===|~=|==|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+`

// requirements reads a list of Python requirements. A path to a project or a wheel is one,
// too.
func (b *block) requirements(name string) []string {
	all, _ := b.texts(name)
	for _, r := range all {
		if !requirementForm().MatchString(r) && !strings.Contains(r, "/") && !strings.HasSuffix(r, ".whl") {
			b.reject(name, "bad-requirement", "Bad requirement", fmt.Sprintf("%q is not a Python requirement.", r), `write such as "pyyaml", "pyyaml>=6" or "pyyaml~=6.0,!=6.0.1"`)
		}
	}
	return all
}
