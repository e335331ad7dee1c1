package lang

func exportKinds() []string {
	return []string{"json", "jsonl", "csv", "markdown", "junit", "junit-tests", "ctrf", "github", "gitlab", "scbench", "frontier", "harbor", "every_eval_ever"}
}

func suiteSchema() BlockSchema {
	return BlockSchema{
		Name: "suite", Labels: []string{"name"}, Repeats: true,
		Doc: "A set of cells. Without one, the suite default has every solution on every backend.",
		Attributes: []AttributeSchema{
			{Name: "description", Type: TypeText, Default: `""`, Doc: "Shown to users."},
			{Name: "repeat", Type: TypeInteger, Default: "1", Doc: "How often each cell is judged: from 1 to 10000."},
			{Name: "stop_after", Type: TypeInteger, zero: true, Default: "0", Doc: "Failed cells after which nothing new starts; 0 means no limit."},
			{Name: "pairs", Type: TypeText, Path: true, Doc: "File with lines SOLUTION:PROBLEM, instead of matrix.solution."},
			{Name: "shard", Type: TypeText, Doc: "\"I/N\": only the I-th of N parts of the cells, chosen by their names."},
		},
		Blocks: []BlockSchema{
			{
				Name: "matrix", axes: true,
				Doc: "The axes, in the order written, the last one fastest. Without it: every solution on every backend.",
				Attributes: []AttributeSchema{
					{Name: "solution", Type: TypeSolutions, Doc: "Solutions. Required unless the suite has pairs."},
					{Name: "backend", Type: TypeBackends, Doc: "Backends. The default is every declared one, or else local.host."},
				},
			},
			{
				Name: "exclude", Repeats: true,
				Doc: "Removes cells. cell.solution, cell.backend, cell.problem and cell.repeat are in scope.",
				Attributes: []AttributeSchema{
					{Name: "when", Type: TypeBool, Required: true, Scope: "cell", Doc: "Whether the cell is removed."},
					{Name: "reason", Type: TypeText, Default: `""`, Scope: "cell", Doc: "Reason, shown to users."},
				},
			},
			retrySchema(),
		},
	}
}

func resultSchema() BlockSchema {
	return BlockSchema{
		Name: "result", Labels: []string{"name"}, Repeats: true,
		Doc: "A leaderboard over a suite's results.",
		Attributes: []AttributeSchema{
			{Name: "from", Type: TypeSuite, Required: true, Doc: "The suite."},
			{Name: "where", Type: TypeExpression, Scope: "self", Doc: "Which rows count, over self."},
			{Name: "group_by", Type: TypeTexts, Default: "[]", Doc: "Axes that make a row: problem, solution, backend, or a label."},
			{Name: "sort", Type: TypeTexts, Default: "[]", Doc: "Metrics or axes of group_by, most important first; a leading \"-\" is descending."},
		},
		Blocks: []BlockSchema{{
			Name: "metric", Labels: []string{"name"}, Repeats: true,
			Doc: "A column.",
			Attributes: []AttributeSchema{
				{Name: "value", Type: TypeExpression, Scope: "self", Doc: "Its value, over self."},
				{Name: "pass_at", Type: TypeInteger, Doc: "Instead of value: the expected share of problems that one of so many attempts solves, and its interval."},
				{Name: "best_of", Type: TypeInteger, Doc: "Instead of value: the mean over problems of the expected best score of so many attempts, and its interval."},
				{Name: "elo", Type: TypeBool, Default: "false", Doc: "Instead of value: a rating of the rows by the problems that they share."},
				{Name: "format", Type: TypeText, Default: `""`, Doc: "A format such as \"%.1f\"."},
			},
		}},
	}
}

func exportSchema() BlockSchema {
	kinds := make([]BlockSchema, 0, len(exportKinds()))
	for _, kind := range exportKinds() {
		kinds = append(kinds, BlockSchema{Name: kind, Doc: "Results as " + kind + "."})
	}
	return BlockSchema{
		Name: "export", Labels: []string{"kind", "name"}, Repeats: true,
		Doc: "Writes a suite's results to a file after a run.",
		Attributes: []AttributeSchema{
			{Name: "from", Type: TypeSuite, Required: true, Doc: "The suite."},
			{Name: "path", Type: TypeText, Path: true, Required: true, Doc: "The file, or for scbench, frontier, harbor and every_eval_ever the directory."},
		},
		Kinds: kinds,
		later: []string{"html"},
	}
}
