package lang

// Kinds of outputs of a task.
const (
	OutputTree    = "tree"
	OutputFile    = "file"
	OutputMetrics = "metrics"
	OutputAny     = "any" // a file or a directory, depending on the command
)

func taskSchema() BlockSchema {
	return BlockSchema{
		Name: "task", Labels: []string{"name"}, Repeats: true,
		Doc: "A command that makes declared outputs of declared inputs, referred to as task.<name>.outputs.<output>.",
		Attributes: []AttributeSchema{
			forEachSchema(),
			{Name: "description", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "backend", Type: TypeBackend, Doc: "Where it runs. The default is the only backend that runs commands."},
			{Name: "directory", Type: TypeText, Form: inWorkspace.Or("."), Default: `"."`, Doc: "Relative path in the workspace where commands run."},
			{Name: "requires", Type: TypeTexts, Form: requirement, Default: "[]", Doc: "Python requirements, pinned by the lock file. Their programs are first in PATH."},
			{Name: "setup", Type: TypeOneOrTexts, Default: "[]", Doc: "Shell commands that run first, after the backend's, with the network."},
			{Name: "argv", Type: TypeTexts, Doc: "The program and its arguments; or"},
			{Name: "command", Type: TypeText, Doc: "a shell command."},
			{Name: "run", Type: TypeText, Doc: "The same as command."},
			{Name: "inputs", Type: TypeSources, Doc: "Input blocks in short: paths in the workspace, with a path, an output of a task, a task with one output, or a solution for each."},
			{Name: "outputs", Type: TypeMap, Doc: "Output blocks in short: names with their paths. Each is a file or directory, as the command leaves it; that called metrics has the kind metrics."},
			{Name: "env", Type: TypeMap, Secrets: true, Doc: "Environment variables of setup and the command."},
			{Name: "timeout", Type: TypeDuration, Default: `"30m"`, Doc: "Limit on the command, not on setup; null means no limit."},
			{Name: "network", Type: TypeText, Values: []string{networkNone}, Doc: "\"none\" leaves only a private loopback. The default is the backend's."},
			{Name: "cores", Type: TypeInteger, Default: "1", Doc: "Slots of the pool that it takes, at most all; processors of machines that are launched. In no key."},
			{Name: "memory", Type: TypeSize, Doc: "Memory of machines that are launched, such as \"16GiB\"; no effect on others. In no key."},
			{Name: "pool", Type: TypePool, Doc: "Pool whose slots it takes. The default is the backend's. In no key."},
			{Name: "retries", Type: TypeInteger, zero: true, Doc: "Further attempts if it fails or breaks. The default is the backend's retry block, which applies only to broken work. In no key."},
		},
		Blocks: []BlockSchema{taskInputSchema(), taskOutputSchema()},
	}
}

func taskInputSchema() BlockSchema {
	return BlockSchema{
		Name: "input", Labels: []string{"name"}, Repeats: true,
		Doc: "Files in the workspace before the command runs.",
		Attributes: []AttributeSchema{
			{Name: "source", Type: TypeSource, Path: true, Required: true, Doc: "Path or glob, as of an asset; another task's output, such as task.data.outputs.cases; or a solution, such as solution.agent."},
			{Name: "checkpoint", Type: TypeText, Doc: "Of a solution: the checkpoint. The default is the only one."},
			{Name: "target", Type: TypeText, Doc: "Relative path in the workspace. The default is the input's name."},
			{Name: "ignore", Type: TypeTexts, Form: pattern, Default: "[]", Doc: "Patterns, relative to the source, of files to leave out; not of a solution."},
			{Name: "mode", Type: TypeText, Default: `""`, Values: []string{"0644", "0755"}, Doc: "Mode forced on the files of a path. The default keeps each file's own."},
			{Name: "sha256", Type: TypeText, Default: `""`, Doc: "Expected digest of a path to a single file, in hex."},
		},
	}
}

func taskOutputSchema() BlockSchema {
	return BlockSchema{
		Name: "output", Labels: []string{"name"}, Repeats: true,
		Doc: "Files to store after the command.",
		Attributes: []AttributeSchema{
			{Name: "path", Type: TypeText, Form: inWorkspace, Required: true, Doc: "Where the command leaves it, relative to directory."},
			{Name: "kind", Type: TypeText, Default: `"tree"`, Values: []string{OutputTree, OutputFile, OutputAny, OutputMetrics}, Doc: "\"tree\": a directory. \"file\": a file. \"any\": one of both. \"metrics\": a JSON object of numbers, shown next to the verdict on the solution that is an input."},
			{Name: "publish", Type: TypeText, Path: true, Doc: "Where a run writes the file, if it differs: a path in the project. Not of a tree."},
		},
	}
}
