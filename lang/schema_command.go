package lang

import "fmt"

// Locations of a command's score, and forms of lines of numbers. A test in plan compares them with those of
// package score.
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
			{Name: "directory", Type: TypeText, Form: inWorkspace.Or("."), Default: `"."`, Doc: "Relative path of the files in the workspace, and working directory of commands."},
			{Name: "ignore", Type: TypeTexts, Form: pattern, Default: commandIgnore, Doc: "Patterns, relative to root, of files that are left out."},
			{Name: "solution", Type: TypeText, Form: inWorkspace, Required: true, Doc: "Path of a solution's file or directory, relative to the workspace, not to directory."},
			importSchema("the program", "those graders"), importReadsSchema(), programsSchema(),
			{Name: "setup", Type: TypeOneOrTexts, Default: "[]", Doc: "Shell commands that run first, after the backend's, with the network."},
			{Name: "argv", Type: TypeTexts, Doc: "The program and its arguments; or"},
			{Name: "run", Type: TypeText, Doc: "a shell command."},
			{Name: "uv_project", Type: TypeText, Doc: "Python project whose environment setup and the program use: the directory of its pyproject.toml, relative to directory."},
			{Name: "uv_overrides", Type: TypeText, Doc: "File in the uv project with versions that replace its own, as uv's --override."},
			{Name: "env", Type: TypeMap, Secrets: true, Doc: "Environment variables of setup and the program."},
			{Name: "timeout", Type: TypeDuration, Default: `"30m"`, Doc: "Limit on the program, not on setup; null means no limit. Its processes end within two seconds of it."},
			{Name: "network", Type: TypeText, Values: []string{networkNone}, Doc: "\"none\" leaves only a private loopback. The default is the backend's."},
			{Name: "gpu", Type: TypeBool, Default: "false", Doc: "Whether it needs a GPU. Without one, its cells are skipped."},
		},
		Blocks: []BlockSchema{scoreSchema(), {
			Name: "docker",
			Doc:  "Settings for docker backends.",
			Attributes: []AttributeSchema{
				{Name: "image", Type: TypeText, Form: FormImage, Doc: "Image to use instead of the backend's."},
				{Name: "gpu", Type: TypeBool, Default: "false", Doc: "Give containers every GPU, as gpu = true does."},
				{Name: "dind", Type: TypeBool, Default: "false", Doc: "Mounts the daemon's socket, /var/run/docker.sock. This gives containers root on that machine."},
			},
		}},
	}
}

// importSchema describes where modules run that a problem's code imports.
func importSchema(importer, importers string) AttributeSchema {
	return AttributeSchema{Name: "import", Type: TypeText, Values: []string{ImportSeparate, ImportDirect}, Doc: fmt.Sprintf("Where the solution's Python modules run when %s imports them. \"separate\": in another process, which cannot reach %[1]s or its files. \"direct\", and by default: in its process, where they can change the score; by default results name %s that import the solution.", importer, importers)}
}

func importReadsSchema() AttributeSchema {
	return AttributeSchema{Name: "import_reads", Type: TypeTexts, Default: "[]", Doc: "With import = \"separate\", paths that the solution can read, relative to the workspace. By default it can read only itself and the system."}
}

func programsSchema() AttributeSchema {
	return AttributeSchema{Name: "programs", Type: TypeText, Values: []string{programsConfined}, Doc: "With import = \"separate\", \"confined\" limits the solution's Python files, when started as programs, as if imported, with a TMPDIR and a working directory outside of the workspace. By default they can read the same files as the problem's program."}
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
		Doc:  "Where the score is. The default is the last line of standard output with one or two numbers and nothing else: the score and the unbounded score.",
		Attributes: []AttributeSchema{
			{Name: "from", Type: TypeText, Default: `"stdout"`, Values: scoreSources(), Doc: "Where the score is: in the program's output (output is stdout followed by stderr), in a file, or in its exit code: 100 for 0, else 0."},
			{Name: "file", Type: TypeText, Form: inWorkspace, Doc: "With from = \"file\", its path relative to directory. Earlier content does not count."},
			{Name: "pointer", Type: TypeText, Form: pointer, Doc: "JSON pointer of the score in the file, such as \"/score\". Without it the file is read as text."},
			{Name: "pointer_unbounded", Type: TypeText, Form: pointer, Doc: "JSON pointer of the unbounded score. The default is the score."},
			{Name: "pattern", Type: TypeText, Form: regularExpression, Doc: "Regular expression with the group (?P<score>…) and perhaps (?P<unbounded>…), whose last match is the score."},
			{Name: "marker", Type: TypeText, Form: oneLine("Bad marker", "A marker is the beginning of one line."), Doc: "Prefix of the lines that count."},
			{Name: "exit_status", Type: TypeText, Default: `"success"`, Values: []string{exitSuccess, exitAny}, Doc: "After which exit a score counts. \"success\": the exit code 0. \"any\": also others, and signals, as with compat = \"frontier\"."},
			{Name: "compat", Type: TypeText, Default: `"safe"`, Values: compatValues(), Doc: "How output and exit code are read. \"frontier\": as by Frontier-CS's runner for research problems."},
		},
	}
}
