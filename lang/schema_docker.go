package lang

func dockerSchema() BlockSchema {
	return BlockSchema{
		Name: "docker",
		Doc:  "Containers of a Docker daemon, the one that DOCKER_HOST names or this machine's.",
		Attributes: append(inheritance("[]", dockerPassthrough),
			AttributeSchema{Name: "image", Type: TypeText, form: image, Doc: "Image: a reference such as \"python:3.12-slim\", or an ID. The ID enters keys."},
			AttributeSchema{Name: "dockerfile", Type: TypeText, Path: true, Doc: "Path of a Dockerfile to build the image from, in place of image."},
			AttributeSchema{Name: "context", Type: TypeText, Path: true, Doc: "Directory of the build's files, except those in .dockerignore. The default is the Dockerfile's."},
			AttributeSchema{Name: "build_args", Type: TypeMap, Doc: "Values of the Dockerfile's ARGs. They enter keys and stay readable in the image: secrets are refused."},
			AttributeSchema{Name: "pull", Type: TypeText, Default: `"missing"`, Values: []string{"missing", "always", "never"}, Doc: "When images are pulled: if the daemon lacks them, once per run, or never."},
			AttributeSchema{Name: "platform", Type: TypeText, form: matching("platform", platformText, `a platform, such as "linux/arm64"`), Default: `""`, Doc: "Platform of the image, such as \"linux/arm64\". The default is the daemon's own."},
			AttributeSchema{Name: "network", Type: TypeText, form: dockerNetwork, Default: `"none"`, Doc: "Network of the tests: \"none\"; \"bridge\", private and with access to the machine's; or the name of a network. With \"none\", set-up still gets \"bridge\"."},
			AttributeSchema{Name: "user", Type: TypeText, form: userForm, Default: `""`, Doc: "User of commands: a name or number, optionally with \":group\". The default is the image's user, or 1000:1000 if that is root."},
			AttributeSchema{Name: "workdir", Type: TypeText, form: inContainer, Default: `"/workspace"`, Doc: "Absolute path of the workspace in the container."},
			AttributeSchema{Name: "cpus", Type: TypeNumber, Doc: "Processors of a container, such as 1.5. The default is no limit."},
			AttributeSchema{Name: "memory", Type: TypeSize, Doc: "Memory of a container without swap, such as \"2GiB\". The default is no limit."},
			AttributeSchema{Name: "pids", Type: TypeInteger, Default: "4096", Doc: "Processes and threads of a container at a time; null is no limit."},
			AttributeSchema{Name: "gpus", Type: TypeText, form: matching("gpus", gpusText, `"all", a number above 0, or "device=" and ids, such as "device=0,1"`), Default: `""`, Doc: "\"all\", a number, or \"device=\" and a list of ids. The default is none."},
			AttributeSchema{Name: "python", Type: TypeText, Default: `""`, Doc: "Interpreter that uv selects in the container, such as \"3.12\", for pytest and, as UV_PYTHON, for set-up commands and tests. The default is uv's choice."},
			AttributeSchema{Name: "keep", Type: TypeText, Default: `"never"`, Values: []string{"never", "failed", "always"}, Doc: "Which containers stay for you to enter: none; those of failed or broken programs; or all."},
		),
		Blocks: []BlockSchema{{
			Name: "mount", Repeats: true,
			Doc: "A file or directory of the daemon's machine that containers see.",
			Attributes: []AttributeSchema{
				{Name: "source", Type: TypeText, Path: true, Required: true, Doc: "Path, relative to the file that says it. It must exist."},
				{Name: "target", Type: TypeText, form: inContainer, Required: true, Doc: "Absolute path in the container."},
				{Name: "read_only", Type: TypeBool, Default: "true", Doc: "Keep containers from writing to it."},
				{Name: "content", Type: TypeText, Default: `"hashed"`, Values: []string{"hashed", "unhashed"}, Doc: "Whether its content enters keys. Must be \"unhashed\" if containers write to it, or the daemon is on another machine."},
			},
		}},
	}
}

// dockerPassthrough omits variables that name locations on the caller's machine.
const dockerPassthrough = `[
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
  "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL",
  "UV_HTTP_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_HTTP_RETRIES",
]`
