package lang

func generatorSchema() BlockSchema {
	return BlockSchema{
		Name: "generator", Labels: []string{"name"}, Repeats: true,
		Doc: "A model that `fevalgraph gen` queries for solutions, whose files solution blocks name. It has either endpoint and model, or command.",
		Attributes: []AttributeSchema{
			forEachSchema(),
			{Name: "problems", Type: TypeProblems, Doc: "Problems to solve. The default is every problem."},
			{Name: "endpoint", Type: TypeText, Form: FormEndpoint, Doc: "URL of an API that is compatible with OpenAI's chat completions, without /chat/completions, such as https://api.openai.com/v1."},
			{Name: "model", Type: TypeText, Doc: "Name of the model, as the endpoint knows it. With command, only a label of solutions."},
			{Name: "keys", Type: TypeSecrets, Doc: "API keys: a secret, with a key on each line, or a list of secrets. They are used in turn, each within limits."},
			{Name: "command", Type: TypeTexts, Doc: "A program with arguments that reads a prompt from standard input and writes the answer to standard output, in the directory of fevalgraph.hcl."},
			{Name: "env", Type: TypeMap, Secrets: true, Doc: "Environment variables of command. It has no others but PATH and HOME."},
			{Name: "prompt", Type: TypeExpression, Scope: "self", Doc: "The prompt, an expression over self. The default requests whole files in fenced blocks."},
			{Name: "system", Type: TypeText, Default: `""`, Doc: "The system message."},
			{Name: "parameters", Type: TypeAny, Doc: "Further attributes of requests, an object such as { temperature = 0.2, max_tokens = 8000 }."},
			{Name: "attempts", Type: TypeInteger, Default: "1", Doc: "Solutions of each problem."},
			{Name: "directory", Type: TypeText, Path: true, Doc: "Directory of solutions: <directory>/<problem>/<attempt>/<checkpoint>. The default is generated/<label> or, with for_each, generated/<label>/<key>."},
			{Name: "file", Type: TypeText, Doc: "Path of code without a name in an answer. The default is the file in the problem's entry, or solution with the ending of the problem's language."},
			{Name: "timeout", Type: TypeDuration, Default: `"10m"`, Doc: "Limit on a request, with its answer; null means no limit."},
		},
		Blocks: []BlockSchema{{
			Name: "limits",
			Doc:  "Limits for each key.",
			Attributes: []AttributeSchema{
				{Name: "requests_per_minute", Type: TypeInteger, Doc: "Requests that begin within a minute. Unlimited by default."},
				{Name: "concurrency", Type: TypeInteger, Doc: "Parallel requests of a key. The default is requests_per_minute, or else 4."},
			},
		}, {
			Name: "price",
			Doc:  "Prices of tokens, for the cost of solutions and for --max-cost.",
			Attributes: []AttributeSchema{
				{Name: "input", Type: TypeNumber, Required: true, Doc: "Dollars for a million tokens of prompts."},
				{Name: "output", Type: TypeNumber, Required: true, Doc: "Dollars for a million tokens of answers."},
			},
		}, {
			Name: "retry",
			Doc:  "How often a request is sent again after a cut connection, a server error or a timeout. The wait doubles each time, up to a minute.",
			Attributes: []AttributeSchema{
				{Name: "attempts", Type: TypeInteger, Default: "5", Doc: "Attempts in all, at least 1; 1 means no retry."},
				{Name: "wait", Type: TypeDuration, zero: true, Default: `"2s"`, Doc: "Pause before the second attempt."},
			},
		}},
	}
}
