package lang

// Values of a verifier's network.
const (
	networkPublic  = "public"
	networkAllowed = "allowlist"
)

func verifierSchema() BlockSchema {
	return BlockSchema{
		Name: "verifier",
		Doc:  "Judges by a script, /tests/test.sh, that writes reward.json or reward.txt to /logs/verifier. A checkpoint's attributes override the problem's.",
		Attributes: []AttributeSchema{
			{Name: "tests", Type: TypeOneOrTexts, Default: "[]", Doc: "Directories merged at /tests; later ones win. Without any the image has the tests."},
			{Name: "leave_out", Type: TypeTexts, Default: "[]", Doc: "Paths below tests to leave out."},
			{Name: "solution", Type: TypeText, Doc: "Absolute path of a solution. \"/\": a directory that mirrors absolute paths, app/main.py for /app/main.py. The default is the only artifact, or \"/\"."},
			{Name: "image", Type: TypeText, Form: FormImage, Doc: "Image for docker backends. It overrides dockerfile."},
			{Name: "image_map", Type: TypeMap, Default: "{}", Doc: "Images to use instead, by name, such as local images instead of those of a registry."},
			{Name: "dockerfile", Type: TypeText, Path: true, Doc: "Dockerfile that their image is built from."},
			{Name: "context", Type: TypeText, Path: true, Doc: "Directory that it is built in. The default is the Dockerfile's."},
			{Name: "user", Type: TypeText, Form: FormUser, Default: `""`, Doc: "User of the script in containers, a name or a number. The default is the image's, even root."},
			{Name: "workdir", Type: TypeText, Form: FormInContainer.Or(""), Default: `""`, Doc: "Working directory of the script. The default is the image's or, outside of containers, \"/\"."},
			{Name: "network", Type: TypeText, Default: `"none"`, Values: []string{networkNone, networkPublic, networkAllowed}, Doc: "Network of the script: none; a private one with access to the machine's; or one whose only way out is a proxy to hosts, with docker backends."},
			{Name: "hosts", Type: TypeTexts, Form: hostPattern, Default: "[]", Doc: "Hosts for \"allowlist\": names, \"*.example.org\" for all names below one, addresses and ranges such as \"10.0.0.0/8\"."},
			{Name: "capabilities", Type: TypeText, Default: `"none"`, Values: []string{"none", "default"}, Doc: "Capabilities of root in containers: none, or docker's default, such as chown and becoming another user."},
			{Name: "cpus", Type: TypeNumber, Doc: "Limit on containers, in processors."},
			{Name: "memory", Type: TypeSize, Doc: "Limit on containers, such as \"4GiB\"."},
			{Name: "gpu", Type: TypeBool, Default: "false", Doc: "Whether it needs a GPU. Without one, its cells are skipped."},
			{Name: "env", Type: TypeMap, Secrets: true, Doc: "Environment variables of the script."},
			{Name: "inherit", Type: TypeMap, Default: "{}", Doc: "Variables of the caller for the script: \"KEY\", or \"KEY:-\" and a default. Their values are secret."},
			{Name: "timeout", Type: TypeDuration, Default: `"10m"`, Doc: "Limit on the script; null means no limit. If it is exceeded, the reward is missing."},
			{Name: "reward", Type: TypeText, Default: `"reward"`, Doc: "Which number of reward.json is the score."},
			{Name: "pass", Type: TypeNumber, zero: true, Default: "1", Doc: "Minimum score to pass, unless there is a pass block."},
		},
		Blocks: []BlockSchema{{
			Name: "artifact", Labels: []string{"path"}, Repeats: true,
			Doc: "A file or directory of solutions, by its absolute path. Other files are not in place.",
			Attributes: []AttributeSchema{
				{Name: "exclude", Type: TypeTexts, Default: "[]", Doc: "Names or patterns of files and directories to leave out, at any depth."},
			},
		}, {
			Name: "service", Labels: []string{"name"}, Repeats: true,
			Doc: "A container next to that of the script, on a network that only they are on. It needs a docker backend.",
			Attributes: []AttributeSchema{
				{Name: "image", Type: TypeText, Form: FormImage, Required: true, Doc: "Its image; image_map applies."},
				{Name: "entrypoint", Type: TypeTexts, Doc: "Replaces the image's."},
				{Name: "command", Type: TypeTexts, Doc: "Replaces the image's."},
				{Name: "env", Type: TypeMap, Doc: "Environment variables."},
				{Name: "user", Type: TypeText, Form: FormUser, Default: `""`, Doc: "The default is the image's."},
				{Name: "workdir", Type: TypeText, Form: FormInContainer.Or(""), Default: `""`, Doc: "The default is the image's."},
				{Name: "ready", Type: TypeTexts, Default: "[]", Doc: "Command in it that succeeds when it is ready. By default it is when it runs."},
				{Name: "ready_timeout", Type: TypeDuration, Default: `"2m"`, bounded: true, Doc: "Limit on becoming ready. After it, the machine has failed."},
			},
		}, {
			Name: "broken_if", Repeats: true,
			Doc: "Recognises a failed machine by files in /logs/verifier, even with a reward. The cell is broken, and tried again.",
			Attributes: []AttributeSchema{
				{Name: "file", Type: TypeText, Form: inRewards, Required: true, Doc: "Path relative to /logs/verifier. A missing file is ignored."},
				{Name: "pointer", Type: TypeText, Form: pointer, Doc: "JSON pointer of a value in the file, such as \"/pytest_rc\". The default is the file's text."},
				{Name: "values", Type: TypeTexts, Default: "[]", Doc: "Values in JSON of a failed machine; or"},
				{Name: "pattern", Type: TypeText, Form: regularExpression, Doc: "a regular expression that matches in it."},
			},
		}},
	}
}
