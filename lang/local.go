package lang

// LocalAttributes are the attributes of backend "local".
type LocalAttributes struct {
	Versions       []string `hcl:"versions"`        // shell commands whose output is part of the identity
	PrivateNetwork bool     `hcl:"private_network"` // tests with ports get a private network if the machine allows it
	Isolation      string   `hcl:"isolation"`       // "full", "partial" or "none"; "" means the most that the machine allows
	Readable       []string `hcl:"readable"`        // paths that commands can read besides those of the system
	Unhashed       []string `hcl:"unhashed"`        // as Readable, but the content enters no key
}

func localKind() BackendKind {
	return BackendKind{Schema: localSchema(), Attributes: LocalAttributes{}}
}

func localSchema() BlockSchema {
	return BlockSchema{
		Name: "local",
		Doc:  "This machine.",
		Attributes: append(Inheritance("[]", localPassthrough),
			AttributeSchema{Name: "python", Type: TypeText, Default: `""`, Doc: "Interpreter that uv selects, such as \"3.12\", for pytest and, as UV_PYTHON, for set-up commands and tests. The default is uv's choice."},
			AttributeSchema{Name: "versions", Type: TypeOneOrTexts, Default: "[]", Doc: "Commands whose output enters keys, such as \"node --version\": tests are stale when it changes."},
			AttributeSchema{Name: "private_network", Type: TypeBool, Default: "true", Doc: "Whether tests with ports get a private network if the machine allows it. Otherwise they use the machine's, one after another."},
			AttributeSchema{Name: "isolation", Type: TypeText, Form: FormIsolation, Default: `""`, Doc: "Isolation of commands: \"full\" by namespaces, \"partial\" by Landlock, or \"none\". The default is FEVALGRAPH_ISOLATION or the most that the machine allows. An error if the machine does not allow it."},
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
