package lang

// LocalBackend is the schema of backend "local".
type LocalBackend struct {
	Versions       []string // shell commands whose output is part of the identity
	PrivateNetwork bool     // tests with ports get a network of their own, where the machine allows it
}

func localKind() backendKind {
	return backendKind{schema: localSchema(), decode: func(b *block, made *Backend) {
		b.inheritance(made)
		made.Python, _ = b.text("python")
		made.Local = &LocalBackend{}
		made.Local.Versions, _ = b.texts("versions")
		made.Local.PrivateNetwork, _ = b.truth("private_network")
	}}
}

func localSchema() BlockSchema {
	return BlockSchema{
		Name: "local",
		Doc:  "This machine, without isolation.",
		Attributes: append(inheritance("[]", localPassthrough),
			AttributeSchema{Name: "python", Type: TypeText, Default: `""`, Doc: "Interpreter that uv is asked for, such as \"3.12\", for pytest and, as UV_PYTHON, for set-up commands and tests. The default is uv's choice."},
			AttributeSchema{Name: "versions", Type: TypeOneOrTexts, Default: "[]", Doc: "Commands whose output enters keys, such as \"node --version\": tests are stale when it changes."},
			AttributeSchema{Name: "private_network", Type: TypeBool, Default: "true", Doc: "Whether tests with ports get a network of their own where the machine allows it. Otherwise they use the machine's, one after another."},
		),
	}
}

const localPassthrough = `[
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
  "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
  "UV_CACHE_DIR", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_PYTHON_INSTALL_DIR",
  "UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "UV_HTTP_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_HTTP_RETRIES",
]`
