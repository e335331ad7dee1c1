package lang

const defaultIgnore = `["**/__pycache__/**", "**/*.pyc", ".venv/**", "venv/**", ".git/**"]`

func groups() []string { return []string{"core", "functionality", "regression", "error"} }

// defaultPolicy is the policy without a pass block.
const defaultPolicy = "strict-core-cases"

// scoredPolicy replaces it for a problem that gives scores, which does not pass or
// fail.
const scoredPolicy = "none"

// policies returns the policies of package report; a test in plan compares them.
func policies() []string {
	return []string{
		"core-cases", "all-core-cases", "any-core-cases", "all-cases", "all-non-error-cases", "any-case", "any",
		"strict-core-cases", "strict-all-core-cases", "strict-all-cases", "strict-all-non-error-cases",
	}
}

func problemSchema() BlockSchema {
	return BlockSchema{
		Name: "problem", Labels: []string{"name"}, Repeats: true,
		Doc: "A task with its tests, judged by exactly one block: pytest, judge, command or verifier.",
		Attributes: []AttributeSchema{
			forEachSchema(),
			{Name: "invalid", Type: TypeText, Default: `"error"`, Values: []string{"error", "report"}, Scope: scopeOutside, Doc: "Scope of an error in an instance: the configuration, so that nothing runs, or that problem."},
			{Name: "name", Type: TypeText, Doc: "Unique name. The default is the label, or label[\"key\"] under for_each."},
			{Name: "title", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "description", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "spec", Type: TypeText, Path: true, Default: `""`, Doc: "Path of the task text for generators. Checkpoints inherit it."},
			{Name: "version", Type: TypeInteger, zero: true, Default: "1", Doc: "Version of the problem."},
			{Name: "release", Type: TypeText, Default: `""`, Doc: "Version of the problem for `fevalgraph release`, such as \"1.2.0\". The default is version, if that is written."},
			{Name: "tags", Type: TypeTexts, Default: "[]", Doc: "Words to select by."},
			{Name: "author", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "difficulty", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "category", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "entry", Type: TypeText, Default: `""`, Doc: "Command that starts a solution, such as \"python kv.py\". A solution can override it."},
			{Name: "timeout", Type: TypeDuration, Default: `"30s"`, Doc: "Limit on one test; null means no limit. Checkpoints inherit it."},
			{Name: "session_timeout", Type: TypeDuration, Doc: "Limit on a whole pytest run; null means no limit. Checkpoints inherit it. The default is ten times the timeout, at least 60s."},
			{Name: "env", Type: TypeMap, Secrets: true, Doc: "Environment variables of the tests. Checkpoints inherit and add."},
			{Name: "before", Type: TypeText, Default: `""`, Doc: "Commands of the shell that starts pytest, such as `ulimit -v 4194304`, which then hold for the tests. Checkpoints inherit it."},
			{Name: "max_submission_size", Type: TypeSize, Default: `"1GiB"`, Doc: "Maximum size of a solution's files together, such as \"5GiB\". Holes in files count."},
			{Name: "max_submission_files", Type: TypeInteger, Default: "100000", Doc: "Maximum number of files, links and directories of a solution."},
		},
		Blocks: []BlockSchema{ownLocalsSchema(), preconditionSchema(), pytestSchema(), judgeSchema(), commandSchema(), verifierSchema(), markerSchema(), assetSchema(), checkpointSchema(), referenceSchema(), ResourcesSchema(), passSchema(), seenSchema()},
	}
}

func ownLocalsSchema() BlockSchema {
	return BlockSchema{
		Name: "locals", Repeats: true, Free: true,
		Doc: "Named values of each instance, local.<name> in this block.",
	}
}

func preconditionSchema() BlockSchema {
	return BlockSchema{
		Name: "precondition", Repeats: true,
		Doc: "A condition of an instance, evaluated after its locals.",
		Attributes: []AttributeSchema{
			{Name: "condition", Type: TypeBool, Required: true, Secrets: true, Doc: "If it is false, or cannot be evaluated, the instance has an error and is not evaluated further."},
			{Name: "error_message", Type: TypeText, Required: true, Doc: "Message if the condition is false; not evaluated otherwise."},
			{Name: "severity", Type: TypeText, Default: `"error"`, Values: []string{"error", "warning"}, Doc: "Severity of a false condition."},
		},
	}
}

func forEachSchema() AttributeSchema {
	return AttributeSchema{
		Name: "for_each", Type: TypeForEach, Scope: scopeOutside,
		Doc: "Makes an instance for each element, <block>.<label>[\"key\"], with each.key and each.value in scope.",
	}
}

func pytestSchema() BlockSchema {
	return BlockSchema{
		Name: "pytest",
		Doc:  "Judges by pytest, with test_<checkpoint>.py for every checkpoint. Without checkpoint blocks, each test_*.py is a checkpoint.",
		Attributes: []AttributeSchema{
			{Name: "root", Type: TypeSource, Path: true, Required: true, Doc: "Directory with the test files, or a task's output with them."},
			{Name: "directory", Type: TypeText, Default: `"tests"`, Form: inTests, Doc: "Relative path of the tests in the workspace."},
			{Name: "missing_tests", Type: TypeText, Default: `"error"`, Values: []string{"error", "skip"}, Doc: "Meaning of a checkpoint's test file that does not exist: an error, or no tests."},
			{Name: "skipped_tests", Type: TypeText, Default: `"count"`, Values: []string{"count", "omit"}, Doc: "Whether skipped tests count in the totals of their groups, and so can make the checkpoint fail."},
			{Name: "asset_paths", Type: TypeText, Default: `"absolute"`, Values: []string{"absolute", "relative"}, Doc: "Paths in SCBENCH_ASSETS_DIR and SCBENCH_ASSET_<NAME>: absolute, or relative to the workspace, where tests start."},
			{Name: "requires", Type: TypeTexts, Form: requirement, Default: "[]", Doc: "Python requirements of the tests besides the built-in ones."},
			{Name: "args", Type: TypeTexts, Default: "[]", Doc: "Further arguments of pytest."},
			{Name: "plugins", Type: TypeTexts, Default: "[]", Doc: "pytest plugins to load with -p."},
			{Name: "ports", Type: TypeIntegers, Default: "[]", Doc: "Fixed ports of 127.0.0.1 that the tests or the solution listen on. Each run of the tests has a private network or, if that is not possible, exclusive ports."},
			importSchema("pytest", "those tests"), importReadsSchema(), programsSchema(),
		},
	}
}

func markerSchema() BlockSchema {
	return BlockSchema{
		Name: "marker", Labels: []string{"name"}, Repeats: true,
		Doc: "Maps a pytest marker to a group of tests.",
		Attributes: []AttributeSchema{
			{Name: "group", Type: TypeText, Default: `""`, Values: groups(), Doc: "Group of the marked tests. Without one the marker is only registered."},
			{Name: "description", Type: TypeText, Default: `""`, Form: oneLine("Bad description", "The description of a marker is one line: it goes into pytest.ini."), Doc: "Goes into pytest.ini."},
		},
	}
}

func assetSchema() BlockSchema {
	return BlockSchema{
		Name: "asset", Labels: []string{"name"}, Repeats: true,
		Doc: "A file or directory that tests can read. A checkpoint's replaces the problem's of the same name.",
		Attributes: []AttributeSchema{
			{Name: "source", Type: TypeSource, Path: true, Required: true, Doc: "Path or glob, or a task's output. A relative one stays inside the project; a glob must match something."},
			{Name: "target", Type: TypeText, Doc: "Relative path below the assets directory or, for a command problem, in the workspace. The default is the asset's name."},
			{Name: "ignore", Type: TypeTexts, Default: "[]", Form: pattern, Doc: "Patterns, relative to the source, of files to leave out."},
			{Name: "mode", Type: TypeText, Default: `""`, Values: []string{"0644", "0755"}, Doc: "Mode forced on its files. The default keeps each file's own."},
			{Name: "sha256", Type: TypeText, Default: `""`, Doc: "Expected digest of a single file, in hex."},
		},
	}
}

func checkpointSchema() BlockSchema {
	return BlockSchema{
		Name: "checkpoint", Labels: []string{"name"}, Repeats: true,
		Doc: "One step of a problem. With pytest, the default is one for each test_*.py; with a verifier, at least one is needed. Scalars replace the problem's, maps are merged.",
		Attributes: []AttributeSchema{
			{Name: "order", Type: TypeInteger, zero: true, Doc: "Position among the checkpoints. By default as written, from 1."},
			{Name: "version", Type: TypeInteger, zero: true, Default: "1", Doc: "Version of the checkpoint."},
			{Name: "state", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "spec", Type: TypeText, Path: true, Doc: "Path of the task text. The default is the problem's."},
			{Name: "tests", Type: TypeOneOrTexts, Doc: "Its own test files, relative to the pytest root. The default is [\"test_<name>.py\"]."},
			{Name: "include_prior_tests", Type: TypeBool, Default: "true", Doc: "Whether the tests of earlier checkpoints run too."},
			{Name: "timeout", Type: TypeDuration, Doc: "Limit on one test; null means no limit. The default is the problem's."},
			{Name: "session_timeout", Type: TypeDuration, Doc: "Limit on the whole pytest run; null means no limit. The default is the problem's."},
			{Name: "before", Type: TypeText, Doc: "Commands of the shell that starts pytest. The default is the problem's."},
			{Name: "env", Type: TypeMap, Secrets: true, Doc: "Merged into the problem's."},
		},
		Blocks: []BlockSchema{assetSchema(), markerSchema(), verifierSchema(), passSchema()},
	}
}

func passSchema() BlockSchema {
	return BlockSchema{
		Name: "pass",
		Doc:  "Decides whether a graded checkpoint passes. The default is " + defaultPolicy + "; problems with scores neither pass nor fail.",
		Attributes: []AttributeSchema{
			{Name: "policy", Type: TypeText, Values: policies(), Doc: "A named policy; or"},
			{Name: "when", Type: TypeExpression, Scope: "self", Doc: "a condition over the checkpoint's result, self."},
		},
	}
}

func solutionSchema() BlockSchema {
	return BlockSchema{
		Name: "solution", Labels: []string{"name"}, Repeats: true,
		Doc: "Code that answers a problem. source, entry and setup are evaluated for every checkpoint, with checkpoint.name, checkpoint.order and checkpoint.version in scope.",
		Attributes: []AttributeSchema{
			forEachSchema(),
			{Name: "name", Type: TypeText, Doc: "Name, unique among the problem's solutions. The default is the label, or label[\"key\"] under for_each."},
			{Name: "problem", Type: TypeProblem, Required: true, Doc: "The problem that it answers."},
			{Name: "source", Type: TypeSource, Path: true, Required: true, Scope: "checkpoint", Doc: "Directory or file with the code, or a task's output. For a judge problem a file."},
			{Name: "entry", Type: TypeText, Scope: "checkpoint", Doc: "Command that starts it. The default is the problem's."},
			{Name: "setup", Type: TypeOneOrTexts, Default: "[]", Scope: "checkpoint", Doc: "Commands run in the workspace before the tests, after the backend's."},
			{Name: "missing", Type: TypeText, Default: `"error"`, Values: []string{"error", "skip", "omit"}, Doc: "Meaning of a source that does not exist: an error; a checkpoint that was not reached and counts as not solved; or a checkpoint that counts nowhere."},
			{Name: "files", Type: TypeText, Default: `"all"`, Values: []string{"all", "plain"}, Doc: "Which files of a source count: all; or only the contents of regular files, without executable bits, links and empty directories."},
			{Name: "failed", Type: TypeText, Doc: "Reason for missing code, such as a model without an answer. The solution is an error with the score 0, and its source is not read. Only for problems with scores."},
			{Name: "ignore", Type: TypeTexts, Default: defaultIgnore, Doc: "Patterns, relative to the source, of files to leave out."},
			{Name: "ignore_syntax", Type: TypeText, Default: `"doublestar"`, Values: []string{"doublestar", "fnmatch"}, Doc: "Syntax of ignore: doublestar, where ** crosses directories; or Python's fnmatch, where * and ? match / too."},
			{Name: "labels", Type: TypeMap, Doc: "Custom axes, for selecting and grouping."},
			{Name: "results", Type: TypeOneOrTexts, Default: "[]", Doc: "Files, or patterns of files, with results of other programs: their score is shown next to the solution's, and decides nothing."},
		},
	}
}
