package lang

import "time"

// LightCPBackend is the schema of backend "lightcp".
type LightCPBackend struct {
	Endpoint string        `hcl:"endpoint"` // "http://127.0.0.1:8081"
	Timeout  time.Duration `hcl:"timeout"`  // for a result; 0 means no limit
}

func lightCPKind() backendKind {
	return backendKind{schema: lightCPSchema(), judges: true, decode: func(b *block, made *Backend) { made.LightCP = b.lightCP() }}
}

func lightCPSchema() BlockSchema {
	return BlockSchema{
		Name: "lightcp",
		Doc:  "A judge server that has the problems and grades whole submissions.",
		Attributes: []AttributeSchema{
			{Name: "endpoint", Type: TypeText, form: endpoint, Required: true, Doc: "Address of the server, such as \"http://127.0.0.1:8081\"."},
			{Name: "timeout", Type: TypeDuration, Default: `"1h"`, Doc: "Time limit for a result; null is no limit."},
		},
	}
}

// lightCP reads the attributes of a lightcp backend.
func (b *block) lightCP() *LightCPBackend {
	b.noWorkspace("A lightcp backend hands submissions to a server")
	j := &LightCPBackend{}
	b.fill(j)
	return j
}
