package lang

import "fmt"

// Where a command's score stands, and how lines of numbers are read. A test in
// plan compares them with those of package score.
const (
	ScoreFromFile = "file"

	scoreFromStdout = "stdout"
	scoreFromExit   = "exit"
)

func scoreSources() []string {
	return []string{scoreFromStdout, "stderr", "output", ScoreFromFile, scoreFromExit}
}

func commandSchema() BlockSchema {
	return BlockSchema{
		Name: "command",
		Doc:  "Judges by a program of the problem's own that gives a score.",
		Attributes: []AttributeSchema{
			{Name: "root", Type: TypeText, Path: true, Required: true, Doc: "Directory with the problem's files."},
			{Name: "directory", Type: TypeText, form: inWorkspace.or("."), Default: `"."`, Doc: "Where they go in the workspace, and where commands run: a relative path without \"..\"."},
			{Name: "ignore", Type: TypeTexts, form: pattern, Default: commandIgnore, Doc: "Patterns, relative to root, of files that are left out."},
			{Name: "solution", Type: TypeText, form: inWorkspace, Required: true, Doc: "Where a solution goes in the workspace, whatever it is called: the path of its file or, when it is a directory, of that. Relative to the workspace, not to directory."},
			importSchema("the program", "those graders"), importReadsSchema(), programsSchema(),
			{Name: "setup", Type: TypeOneOrTexts, Default: "[]", Doc: "Shell commands that run first, after the backend's. They may use the network."},
			{Name: "argv", Type: TypeTexts, Doc: "The program and its arguments; or"},
			{Name: "run", Type: TypeText, Doc: "a shell command."},
			{Name: "uv_project", Type: TypeText, Doc: "Python project whose environment setup and the program run in: the directory of its pyproject.toml, relative to directory. It comes from root or an asset."},
			{Name: "uv_overrides", Type: TypeText, Doc: "File in the uv project with versions that replace what it asks for, as uv's --override."},
			{Name: "env", Type: TypeMap, secrets: true, Doc: "Environment variables of setup and the program."},
			{Name: "timeout", Type: TypeDuration, Default: `"30m"`, Doc: "Limit on the program, not on setup; null is none. Everything it started has ended within two seconds of it."},
			{Name: "network", Type: TypeText, Values: []string{networkNone}, Doc: "\"none\" keeps the program from any network but a loopback of its own. The default is the backend's."},
			{Name: "gpu", Type: TypeBool, Default: "false", Doc: "Whether it needs a GPU. Where there is none, its cells are skipped."},
		},
		Blocks: []BlockSchema{scoreSchema(), {
			Name: "docker",
			Doc:  "What the problem wants of docker backends. Others do not heed it.",
			Attributes: []AttributeSchema{
				{Name: "image", Type: TypeText, form: image, Doc: "Image to use in place of the backend's."},
				{Name: "gpu", Type: TypeBool, Default: "false", Doc: "Give containers every GPU, as gpu = true does."},
				{Name: "dind", Type: TypeBool, Default: "false", Doc: "Let containers talk to their own daemon: /var/run/docker.sock of its machine is mounted in the same place. Whoever can do that is root on that machine."},
			},
		}},
	}
}

// importSchema describes where modules run that a problem's code imports.
func importSchema(importer, importers string) AttributeSchema {
	return AttributeSchema{Name: "import", Type: TypeText, Values: []string{ImportSeparate, ImportDirect}, Doc: fmt.Sprintf("Where the solution's Python modules run when %s imports them. \"separate\": in another process, which cannot reach %[1]s or its files. \"direct\": in the process of %[1]s, where they can change the score. Without it, too, and results name %s that are seen to import the solution.", importer, importers)}
}

func importReadsSchema() AttributeSchema {
	return AttributeSchema{Name: "import_reads", Type: TypeTexts, Default: "[]", Doc: "With import = \"separate\", files and directories of the workspace that the solution can read, relative to it and not to directory. By default it can read only itself and the system."}
}

func programsSchema() AttributeSchema {
	return AttributeSchema{Name: "programs", Type: TypeText, Values: []string{programsConfined}, Doc: "With import = \"separate\", \"confined\" has the solution's Python files read no more when they are started as programs than when they are imported, beside the working directory outside of the workspace; there and in a TMPDIR they can write. By default they can read what the problem's program can."}
}

const programsConfined = "confined"

// The values of import.
const (
	ImportSeparate = "separate"
	ImportDirect   = "direct"
)

const networkNone = "none"

// The values of exit_status.
const (
	exitSuccess = "success"
	exitAny     = "any"
)

func scoreSchema() BlockSchema {
	return BlockSchema{
		Name: "score",
		Doc:  "Says where the score stands. Without it that is the last line of standard output with one or two numbers and nothing else: the score and, if it differs, the unbounded score.",
		Attributes: []AttributeSchema{
			{Name: "from", Type: TypeText, Default: `"stdout"`, Values: scoreSources(), Doc: "Where it is looked for: in what the program printed (output is stdout and, after it, stderr), in a file that it wrote, or in its exit code, which is worth 100 when it is 0 and else 0."},
			{Name: "file", Type: TypeText, form: inWorkspace, Doc: "With from = \"file\", its path relative to directory. What stood there before the program ran does not count."},
			{Name: "pointer", Type: TypeText, form: pointer, Doc: "Place of the score in a JSON file, such as \"/score\". Without it a file is read as text."},
			{Name: "pointer_unbounded", Type: TypeText, form: pointer, Doc: "Place of the unbounded score in it. The default is that they are equal."},
			{Name: "pattern", Type: TypeText, form: regularExpression, Doc: "Regular expression with the group (?P<score>…) and perhaps (?P<unbounded>…), whose last match is the score."},
			{Name: "marker", Type: TypeText, form: oneLine("Bad marker", "A marker is the beginning of one line."), Doc: "What a line begins with that counts; what stands before the score on it."},
			{Name: "exit_status", Type: TypeText, Default: `"success"`, Values: []string{exitSuccess, exitAny}, Doc: "After which end of the program a score counts. \"success\": the exit code 0. \"any\": also another one, or a signal, as with compat = \"frontier\"."},
			{Name: "compat", Type: TypeText, Default: `"safe"`, Values: compatValues(), Doc: "How lines of numbers, and the end of the program, are read. \"frontier\": as by Frontier-CS's runner for research problems."},
		},
	}
}
