package lang

// The languages of judge problems.
const (
	LanguageCPP    = "cpp"
	LanguagePython = "python"
)

func languages() []string { return []string{LanguageCPP, LanguagePython} }

// compatValues returns the rules for reading scores: fevalgraph's, and those of benchmarks.
func compatValues() []string { return []string{"safe", "frontier"} }

// Modes of judge problems.
const (
	ModeDefault     = "default"
	ModeInteractive = "interactive"
)

func judgeSchema() BlockSchema {
	attributes := []AttributeSchema{
		{Name: "root", Type: TypeText, Path: true, Required: true, Doc: "Directory of the problem. The other paths are relative to it."},
		{Name: "mode", Type: TypeText, Default: `"default"`, Values: []string{ModeDefault, ModeInteractive}, Doc: "Whether a program reads input and a checker its output, or the program talks to an interactor."},
		{Name: "checker", Type: TypeSource, Doc: "C++ source of the checker, or a task's output. Required with mode = \"default\"."},
		{Name: "interactor", Type: TypeSource, Doc: "C++ source of the interactor, or a task's output. Required with mode = \"interactive\"."},
		{Name: "include", Type: TypeOneOrTexts, Default: "[]", Doc: "Directories with headers, such as testlib.h, or a task's output. Everything in them is in the checker's key."},
		{Name: "checker_flags", Type: TypeTexts, Default: `["-O2", "-pipe", "-std=gnu++17"]`, Doc: "Compiler flags of the checker or interactor."},
		{Name: "language", Type: TypeText, Values: languages(), Doc: "Language of solutions. By default by extension: .cpp, .cc, .cxx or .c++; .py."},
		{Name: "filename", Type: TypeText, Form: fileName, Doc: "Name of a solution's source when it is compiled or run. The default is main.cpp or main.py."},
		{Name: "flags", Type: TypeTexts, Default: `["-O2", "-pipe", "-std=gnu++17"]`, Doc: "Compiler flags of solutions."},
		{Name: "compile_time", Type: TypeDuration, bounded: true, Default: `"10s"`, Doc: "Processor time of one compilation; ten times as long from start to end."},
		{Name: "compile_memory", Type: TypeSize, Default: `"512MiB"`, Doc: "Memory of one compilation."},
		{Name: "checker_time", Type: TypeDuration, bounded: true, Doc: "Processor time on a case of a checker, by default 10s, or interactor, by default four times the case's. From start to end, twice as long, or at least four times the solution's."},
		{Name: "checker_memory", Type: TypeSize, Doc: "Memory of a checker, by default 256MiB, or interactor, by default four times the case's."},
		{Name: "output", Type: TypeSize, Default: `"64MiB"`, Doc: "Bytes that a solution can print on a case."},
		{Name: "processes", Type: TypeInteger, Default: "128", Doc: "Processes and threads of a solution at a time."},
		{Name: "testdata", Type: TypeSource, Default: `"testdata"`, Doc: "Directory with the inputs and answers of cases, or a task's output."},
		{Name: "input_prefix", Type: TypeText, Default: `""`, Doc: "Before the number in the name of an input."},
		{Name: "input_suffix", Type: TypeText, Default: `".in"`, Doc: "After the number in the name of an input."},
		{Name: "output_prefix", Type: TypeText, Default: `""`, Doc: "Before the number in the name of an answer."},
		{Name: "output_suffix", Type: TypeText, Default: `".ans"`, Doc: "After the number in the name of an answer."},
		{Name: "compat", Type: TypeText, Default: `"safe"`, Values: compatValues(), Doc: "\"safe\": a ratio counts only from the checker or interactor. \"frontier\": as by the judge of Frontier-CS."},
		{Name: "weights", Type: TypeBool, Default: "false", Doc: "Whether a subtask counts by its score. Otherwise every case counts the same."},
	}
	attributes = append(attributes, limitsSchema("The default is 1s.", "The default is 256MiB.")...)
	caseLimits := limitsSchema("The default is the subtask's.", "The default is the subtask's.")
	return BlockSchema{
		Name:       "judge",
		Doc:        "Judges a program case by case, on a backend \"gojudge\".",
		Attributes: attributes,
		Blocks: []BlockSchema{{
			Name: "subtask", Repeats: true, Required: true,
			Doc: "Cases: the next n_cases by number, counted from 1 over all subtasks, or case blocks.",
			Attributes: append([]AttributeSchema{
				{Name: "score", Type: TypeNumber, Doc: "Weight of the subtask. The default is 100."},
				{Name: "n_cases", Type: TypeInteger, Doc: "How many numbered cases it has."},
			}, limitsSchema("The default is the problem's.", "The default is the problem's.")...),
			Blocks: []BlockSchema{{
				Name: "case", Repeats: true,
				Doc: "A case by the names of its files.",
				Attributes: append([]AttributeSchema{
					{Name: "input", Type: TypeText, Required: true, Doc: "Its input, relative to testdata."},
					{Name: "output", Type: TypeText, Doc: "Its answer, relative to testdata. Without it the checker gets an empty one."},
				}, caseLimits...),
			}},
		}},
	}
}

// limitsSchema returns the attributes for limits of a solution on a case.
func limitsSchema(time, memory string) []AttributeSchema {
	return []AttributeSchema{
		{Name: "time", Type: TypeDuration, bounded: true, Doc: "Processor time of a solution on a case. " + time},
		{Name: "clock", Type: TypeDuration, bounded: true, Doc: "Time from its start to its end. The default is twice time."},
		{Name: "memory", Type: TypeSize, Doc: "Memory of a solution on a case. " + memory},
	}
}

func referenceSchema() BlockSchema {
	return BlockSchema{
		Name: "reference", Repeats: true,
		Doc: "A solution that the problem ships, for `fevalgraph validate --reference`.",
		Attributes: []AttributeSchema{
			{Name: "name", Type: TypeText, Default: `"reference"`, Doc: "Its name, unique among the problem's references."},
			{Name: "source", Type: TypeSource, Path: true, Required: true, Scope: "checkpoint", Doc: "Its source file, or a task's output. Of a problem with checkpoints a directory or file, evaluated for each."},
			{Name: "expect", Type: TypeText, Default: `"pass"`, Doc: "\"pass\": every checkpoint passes. \"fail\": it is judged, and none passes. A range of scores such as \"20..80\" or \"..0\", for each checkpoint."},
			{Name: "score", Type: TypeNumber, Doc: "Score from which a judge or command problem passes. The default is 100."},
		},
	}
}
