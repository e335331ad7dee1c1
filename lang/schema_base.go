package lang

// topLevel returns the table of the top-level blocks of a file.
func topLevel() []BlockSchema {
	return []BlockSchema{
		settingsSchema(),
		variableSchema(),
		{
			Name: "locals", Repeats: true, Free: true,
			Doc: "Named values: every attribute is one, referred to as local.<name>.",
		},
		functionSchema(),
		{
			Name: "pool", Labels: []string{"name"}, Repeats: true,
			Doc: "Limits how many nodes run at once. The pool cpu is predefined with the size -j.",
			Attributes: []AttributeSchema{
				{Name: "slots", Type: TypeInteger, Required: true, Doc: "Nodes at once, at least 1."},
			},
		},
		{
			Name: "secret", Labels: []string{"name"}, Repeats: true,
			Doc: "A value that is masked everywhere and never enters a key. Exactly one of env and file is set.",
			Attributes: []AttributeSchema{
				{Name: "env", Type: TypeText, Doc: "Environment variable that holds it."},
				{Name: "file", Type: TypeText, Path: true, Doc: "File that holds it; one newline at its end is dropped."},
			},
		},
		backendSchema(),
		problemSchema(),
		solutionSchema(),
		taskSchema(),
		suiteSchema(),
		resultSchema(),
		exportSchema(),
		generatorSchema(),
	}
}

func settingsSchema() BlockSchema {
	return BlockSchema{
		Name: "fevalgraph",
		Doc:  "Settings of the whole configuration; at most one block.",
		Attributes: []AttributeSchema{
			{Name: "required_version", Type: TypeText, Doc: "Allowed versions of fevalgraph, such as \">= 0.1, < 2\"."},
			{Name: "include", Type: TypeTexts, Scope: scopeStatic, Doc: "Additional files, as paths or globs relative to the file. A glob must match something."},
		},
		Blocks: []BlockSchema{{
			Name: "cache",
			Doc:  "Where results are stored.",
			Attributes: []AttributeSchema{
				{Name: "dir", Type: TypeText, Path: true, Doc: "Directory of the store. The default is the user's cache directory."},
			},
			Blocks: []BlockSchema{remoteSchema()},
		}},
	}
}

func remoteSchema() BlockSchema {
	return BlockSchema{
		Name: "remote", Labels: []string{"name"}, Repeats: true,
		Doc: "A cache on another machine, read where the store has no result.",
		Attributes: []AttributeSchema{
			{Name: "url", Type: TypeText, Form: FormAddress("Bad address", "a cache", `write such as "grpcs://cache.example.com:9092"; rights come from the environment`, "grpc", "grpcs", "http", "https"), Required: true, Doc: "Address: grpc[s]://HOST:PORT[/INSTANCE] for the Remote Execution API, http[s]:// for plain HTTP."},
			{Name: "mode", Type: TypeText, Default: `"rw"`, Values: []string{"r", "rw"}, Doc: "Whether results are only read or also written."},
			{Name: "namespace", Type: TypeText, Form: namespace, Default: `"main"`, Doc: "Namespace that results are written to, and read from first."},
			{Name: "read_namespaces", Type: TypeTexts, Form: namespace, Doc: "Further namespaces to read from, in order."},
			{Name: "trust", Type: TypeTexts, Form: publicKey, Doc: "Public keys, as `fevalgraph keygen` prints them. Only results signed by one of them, or by FEVALGRAPH_SIGNING_KEY, are used."},
		},
	}
}

func variableSchema() BlockSchema {
	return BlockSchema{
		Name: "variable", Labels: []string{"name"}, Repeats: true,
		Doc: "A value given from outside: by --var, --var-file, FEVALGRAPH_VAR_<name>, *.auto.vars.hcl, in that order of precedence, or else its default.",
		Attributes: []AttributeSchema{
			{Name: "type", Type: TypeType, Default: "any", Doc: "Type that the value is converted to, such as string or set(string)."},
			{Name: "default", Type: TypeAny, Doc: "Default value. Without it a value is required."},
			{Name: "description", Type: TypeText, Doc: "Shown by `fevalgraph variables`."},
			{Name: "sensitive", Type: TypeBool, Default: "false", Doc: "Masks the value everywhere; it is allowed in env only, and only its name enters keys."},
		},
		Blocks: []BlockSchema{{
			Name: "validation", Repeats: true,
			Doc: "A condition that the value must meet.",
			Attributes: []AttributeSchema{
				{Name: "condition", Type: TypeBool, Required: true, Secrets: true, Doc: "Can refer to the variable itself."},
				{Name: "error_message", Type: TypeText, Required: true, Doc: "Error message if the condition is false."},
			},
		}},
	}
}

func functionSchema() BlockSchema {
	return BlockSchema{
		Name: "function", Labels: []string{"name"}, Repeats: true,
		Doc: "A user-defined function. It cannot call itself.",
		Attributes: []AttributeSchema{
			{Name: "params", Type: TypeNames, Required: true, Doc: "Names of the parameters: [a, b]."},
			{Name: "variadic_param", Type: TypeNames, Doc: "Name of a parameter that takes all further arguments as a list."},
			{Name: "result", Type: TypeAny, Required: true, Doc: "The value; parameters are in scope by their bare names."},
		},
	}
}

func retrySchema() BlockSchema {
	return BlockSchema{
		Name: "retry",
		Doc:  "When and how often broken work is tried again. Verdicts are never retried.",
		Attributes: []AttributeSchema{
			{Name: "on", Type: TypeTexts, Default: `["broken"]`, Values: []string{"broken"}, Doc: "Classes of outcome that are retried."},
			{Name: "attempts", Type: TypeInteger, Default: "1", Doc: "Attempts in all, at least 1; 1 means no retry."},
			{Name: "wait", Type: TypeDuration, zero: true, Default: `"0s"`, Doc: "Pause before each further attempt."},
		},
	}
}
