package lang

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// requirementForm matches a Python requirement in the syntax of PEP 508: a name, extras, versions or an
// address, and a marker.
var requirementForm = lazyregexp.New(`^\s*[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\s*(?:\[[A-Za-z0-9._,\s-]*\]\s*)?` +
	`(?:@\s*\S.*|\(?\s*(?:` + versionForm + `(?:\s*,\s*` + versionForm + `)*)?\s*,?\s*\)?\s*(?:;.+)?)$`)

const versionForm = `(?:===|~=|==|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+`

// requirement checks Python requirements, and paths to projects and wheels.
func requirement(b *block, name, text string) (string, bool) {
	ok := requirementForm().MatchString(text) || strings.Contains(text, "/") || strings.HasSuffix(text, ".whl")
	if !ok {
		b.reject(name, "bad-requirement", "Bad requirement", fmt.Sprintf("%q is not a Python requirement.", text), `write such as "pyyaml", "pyyaml>=6" or "pyyaml~=6.0,!=6.0.1"`)
	}
	return text, ok
}
