package lang

import (
	"fmt"
	"slices"
)

// LocalBackend is the schema of backend "local".
type LocalBackend struct {
	Versions       []string // shell commands whose output is part of the identity
	PrivateNetwork bool     // tests with ports get a network of their own, where the machine allows it
	Isolation      string   // "full", "partial" or "none"; "" is the most that the machine allows
	Readable       []string // paths that commands may read beside those of the system
	Unhashed       []string // further such paths, whose content enters no key
}

func localKind() backendKind {
	return backendKind{schema: localSchema(), decode: func(b *block, made *Backend) {
		b.inheritance(made)
		made.Python, _ = b.text("python")
		made.Local = &LocalBackend{}
		made.Local.Versions, _ = b.texts("versions")
		made.Local.PrivateNetwork, _ = b.truth("private_network")
		made.Local.Isolation = b.isolation()
		made.Local.Readable, _ = b.texts("readable")
		made.Local.Unhashed, _ = b.texts("unhashed")
	}}
}

// isolation reads how much commands are kept from.
func (b *block) isolation() string {
	text, g := b.text("isolation")
	if levels := []string{"full", "partial", "none"}; g == isSet && !slices.Contains(levels, text) {
		b.reject("isolation", "bad-value", "Bad isolation", fmt.Sprintf("%q is no level of isolation.", text), `"full", "partial" or "none"; leave it out for the most that the machine allows`)
	}
	return text
}

func localSchema() BlockSchema {
	return BlockSchema{
		Name: "local",
		Doc:  "This machine.",
		Attributes: append(inheritance("[]", localPassthrough),
			AttributeSchema{Name: "python", Type: TypeText, Default: `""`, Doc: "Interpreter that uv selects, such as \"3.12\", for pytest and, as UV_PYTHON, for set-up commands and tests. The default is uv's choice."},
			AttributeSchema{Name: "versions", Type: TypeOneOrTexts, Default: "[]", Doc: "Commands whose output enters keys, such as \"node --version\": tests are stale when it changes."},
			AttributeSchema{Name: "private_network", Type: TypeBool, Default: "true", Doc: "Whether tests with ports get a private network if the machine allows it. Otherwise they use the machine's, one after another."},
			AttributeSchema{Name: "isolation", Type: TypeText, Default: `""`, Doc: "Isolation of commands: \"full\" by namespaces, \"partial\" by Landlock, or \"none\". The default is FEVALGRAPH_ISOLATION or the most that the machine allows. An error if the machine does not allow it."},
			AttributeSchema{Name: "readable", Type: TypeOneOrTexts, Default: "[]", Doc: "Additional files and directories that isolated commands can read, relative to the project; ~ is your home directory. Their content enters keys."},
			AttributeSchema{Name: "unhashed", Type: TypeOneOrTexts, Default: "[]", Doc: "Additional readable files and directories whose content enters no key: verdicts must not depend on it."},
		),
	}
}

const localPassthrough = `[
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
  "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
  "UV_CACHE_DIR", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_PYTHON_INSTALL_DIR",
  "UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "UV_HTTP_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_HTTP_RETRIES",
]`
