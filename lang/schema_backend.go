package lang

func backendSchema() BlockSchema {
	return BlockSchema{
		Name: "backend", Labels: []string{"kind", "name"}, Repeats: true,
		Doc: "A place where commands run. Without one, or one for pytest, the backend local.host exists.",
		Attributes: []AttributeSchema{
			{Name: "pool", Type: TypePool, Default: "pool.cpu", Doc: "Pool whose slots its nodes take."},
			{Name: "env", Type: TypeMap, Secrets: true, Doc: "Environment variables of everything that runs here."},
			{Name: "setup", Type: TypeOneOrTexts, Default: "[]", Doc: "Commands run in the workspace before the tests."},
			{Name: "setup_timeout", Type: TypeDuration, Default: `"10m"`, Doc: "Limit on the set-up commands together; null means no limit."},
		},
		Blocks: []BlockSchema{retrySchema()},
	}
}

// Inheritance returns the attributes that pass the caller's environment to a backend. Their defaults depend
// on how far away it runs.
func Inheritance(inherit, passthrough string) []AttributeSchema {
	return []AttributeSchema{
		{Name: "inherit", Type: TypeTexts, Default: inherit, Form: variable, Doc: "Variables of the caller; their values enter keys."},
		{Name: "passthrough", Type: TypeTexts, Default: passthrough, Form: variable, Doc: "Variables of the caller whose values do not enter keys: proxies, certificates, package indexes."},
	}
}
