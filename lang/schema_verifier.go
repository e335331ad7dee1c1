package lang

// What a verifier's network is.
const (
	networkPublic  = "public"
	networkAllowed = "allowlist"
)

func verifierSchema() BlockSchema {
	return BlockSchema{
		Name: "verifier",
		Doc:  "Judges by a script that leaves a reward: /tests/test.sh runs with a solution's files at absolute paths and writes reward.json or reward.txt to /logs/verifier. In a checkpoint, what it says replaces what the problem's says, attribute by attribute.",
		Attributes: []AttributeSchema{
			{Name: "tests", Type: TypeOneOrTexts, Default: "[]", Doc: "Directories whose files are merged at /tests, of which later ones win. Without any the image has its own."},
			{Name: "leave_out", Type: TypeTexts, Default: "[]", Doc: "Paths of files and directories below tests that are not among them."},
			{Name: "solution", Type: TypeText, Doc: "Where a solution goes, an absolute path: that of its file or, when it is a directory, of that. \"/\": it is a directory that has its files where an absolute path would have them, app/main.py for /app/main.py. The default is the artifact, when there is only one, and else \"/\"."},
			{Name: "image", Type: TypeText, form: image, Doc: "Image of docker backends in place of theirs. It wins over dockerfile."},
			{Name: "image_map", Type: TypeMap, Default: "{}", Doc: "Images to take in place of image, by name, such as local ones for those of a registry."},
			{Name: "dockerfile", Type: TypeText, Path: true, Doc: "Dockerfile that their image is built from."},
			{Name: "context", Type: TypeText, Path: true, Doc: "Directory that it is built in. The default is the Dockerfile's."},
			{Name: "user", Type: TypeText, form: userForm, Default: `""`, Doc: "User of the script in containers, a name or a number. The default is the image's, be it root."},
			{Name: "workdir", Type: TypeText, form: inContainer.or(""), Default: `""`, Doc: "Absolute path of the directory that the script starts in. The default is the image's or, outside of containers, \"/\"."},
			{Name: "network", Type: TypeText, Default: `"none"`, Values: []string{networkNone, networkPublic, networkAllowed}, Doc: "Network of the script: none, or one of its own that reaches what the machine does. \"allowlist\" cannot be had."},
			{Name: "capabilities", Type: TypeText, Default: `"none"`, Values: []string{"none", "default"}, Doc: "What root may do in containers: nothing beyond its own files, or what containers' root may by default, such as chown and becoming another user."},
			{Name: "cpus", Type: TypeNumber, Doc: "Limit on containers, in processors."},
			{Name: "memory", Type: TypeSize, Doc: "Limit on containers, such as \"4GiB\"."},
			{Name: "gpu", Type: TypeBool, Default: "false", Doc: "Whether it needs a GPU. Where there is none, its cells are skipped."},
			{Name: "env", Type: TypeMap, secrets: true, Doc: "Environment variables of the script."},
			{Name: "inherit", Type: TypeMap, Default: "{}", Doc: "Variables of the script that have the values of the caller's, by name: \"KEY\", or \"KEY:-\" and a default. Their values are secret."},
			{Name: "timeout", Type: TypeDuration, Default: `"10m"`, Doc: "Limit on the script; null is none. When it is over, there is no reward."},
			{Name: "reward", Type: TypeText, Default: `"reward"`, Doc: "Which number of a reward.json is the score. That of a reward.txt is called reward."},
			{Name: "pass", Type: TypeNumber, zero: true, Default: "1", Doc: "The score from which on a checkpoint passes, unless there is a pass block."},
		},
		Blocks: []BlockSchema{{
			Name: "artifact", Labels: []string{"path"}, Repeats: true,
			Doc: "A file or directory of solutions, by its absolute path. Nothing else of them is in place.",
			Attributes: []AttributeSchema{
				{Name: "exclude", Type: TypeTexts, Default: "[]", Doc: "Names of files and directories of it, or patterns, that are left out wherever they are."},
			},
		}, {
			Name: "broken_if", Repeats: true,
			Doc: "What else the script writes to /logs/verifier when its machine failed, where the reward is a number all the same. The cell is broken then, and tried again.",
			Attributes: []AttributeSchema{
				{Name: "file", Type: TypeText, form: inRewards, Required: true, Doc: "Path relative to /logs/verifier. One that is not there is ignored."},
				{Name: "pointer", Type: TypeText, form: pointer, Doc: "Place of a value in a JSON file, such as \"/pytest_rc\". The default is the text of the file."},
				{Name: "values", Type: TypeTexts, Default: "[]", Doc: "Values, as JSON writes them, of which any says so; or"},
				{Name: "pattern", Type: TypeText, form: regularExpression, Doc: "a regular expression that matches in it."},
			},
		}},
	}
}
