package lang

func dockerSchema() BlockSchema {
	return BlockSchema{
		Name: "docker",
		Doc:  "Containers of a Docker daemon, the one that DOCKER_HOST names or this machine's.",
		Attributes: append(inheritance("[]", dockerPassthrough),
			AttributeSchema{Name: "image", Type: TypeText, form: image, Doc: "Image that containers are made of: a reference such as \"python:3.12-slim\", or an image ID. Its ID enters keys, its name does not."},
			AttributeSchema{Name: "dockerfile", Type: TypeText, Path: true, Doc: "Path of a Dockerfile to build the image from, in place of image."},
			AttributeSchema{Name: "context", Type: TypeText, Path: true, Doc: "Directory whose files the build gets, but for those that its .dockerignore names. The default is the Dockerfile's."},
			AttributeSchema{Name: "build_args", Type: TypeMap, Doc: "Values of the Dockerfile's ARGs. They enter keys and stay readable in the image: secrets are refused."},
			AttributeSchema{Name: "pull", Type: TypeText, Default: `"missing"`, Values: []string{"missing", "always", "never"}, Doc: "When the image, or those that a Dockerfile builds on, are fetched from their registry: when the daemon lacks them, once per run, or never."},
			AttributeSchema{Name: "platform", Type: TypeText, form: matching("platform", platformText, `a platform, such as "linux/arm64"`), Default: `""`, Doc: "Platform of the image, such as \"linux/arm64\". The default is the daemon's own."},
			AttributeSchema{Name: "network", Type: TypeText, form: dockerNetwork, Default: `"none"`, Doc: "Network of the tests: \"none\"; \"bridge\", one of each container's own that reaches what the machine reaches; or the name of one that the daemon has. With \"none\", set-up commands and the preparation of pytest still get \"bridge\"."},
			AttributeSchema{Name: "user", Type: TypeText, form: userForm, Default: `""`, Doc: "Who commands run as: a name or number of the image's, either with \":group\". The default is the image's user, or 1000:1000 when that is root."},
			AttributeSchema{Name: "workdir", Type: TypeText, form: inContainer, Default: `"/workspace"`, Doc: "Absolute path of the workspace in the container."},
			AttributeSchema{Name: "cpus", Type: TypeNumber, Doc: "Processors that a container may use at a time, such as 1.5. The default is no limit."},
			AttributeSchema{Name: "memory", Type: TypeSize, Doc: "Memory of a container, such as \"2GiB\"; it gets no swap beside that. The default is no limit."},
			AttributeSchema{Name: "pids", Type: TypeInteger, Default: "4096", Doc: "Processes and threads of a container at a time; null is no limit."},
			AttributeSchema{Name: "gpus", Type: TypeText, form: matching("gpus", gpusText, `"all", a number above 0, or "device=" and ids, such as "device=0,1"`), Default: `""`, Doc: "\"all\", a number, or \"device=\" and a list of ids. The default is none."},
			AttributeSchema{Name: "python", Type: TypeText, Default: `""`, Doc: "Interpreter that uv is asked for in the container, such as \"3.12\", for pytest and, as UV_PYTHON, for set-up commands and tests. The default is uv's choice."},
			AttributeSchema{Name: "keep", Type: TypeText, Default: `"never"`, Values: []string{"never", "failed", "always"}, Doc: "Which containers stay when their program has ended, for you to enter: none; those of tests and other programs that failed, and of runs that broke; or all. It says how to enter them."},
		),
		Blocks: []BlockSchema{{
			Name: "mount", Repeats: true,
			Doc: "A file or directory of the daemon's machine that containers see.",
			Attributes: []AttributeSchema{
				{Name: "source", Type: TypeText, Path: true, Required: true, Doc: "Path, relative to the file that says it. It must exist."},
				{Name: "target", Type: TypeText, form: inContainer, Required: true, Doc: "Absolute path in the container."},
				{Name: "read_only", Type: TypeBool, Default: "true", Doc: "Keep containers from writing to it."},
				{Name: "content", Type: TypeText, Default: `"hashed"`, Values: []string{"hashed", "unhashed"}, Doc: "Whether what is in it enters keys. It cannot where containers write to it, and where the daemon is on another machine: say \"unhashed\" there."},
			},
		}},
	}
}

// dockerPassthrough leaves out what names places of the caller's machine.
const dockerPassthrough = `[
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
  "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL",
  "UV_HTTP_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_HTTP_RETRIES",
]`
