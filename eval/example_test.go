package eval_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
)

// A project whose problem is judged by a shell script: a solution is a number, and
// its score is twice that.
var example = map[string]string{
	"fevalgraph.hcl": `
problem "double" {
  command {
    root     = "double"
    solution = "answer.txt"
    argv     = ["/bin/sh", "grade.sh"]
    score { marker = "score" }
  }
}
solution "small" {
  problem = problem.double
  source  = "small.txt"
}
solution "large" {
  problem = problem.double
  source  = "large.txt"
}
`,
	"double/grade.sh": "echo score $((2 * $(cat answer.txt)))\n",
	"small.txt":       "3\n",
	"large.txt":       "40\n",
}

// lay writes the files of a project into a directory.
func lay(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// optionsFor keep the store of a project within its directory.
func optionsFor(dir string) eval.Options {
	return eval.Options{
		Inputs: lang.Inputs{Dir: dir},
		Kinds:  kinds.All(),
		LookupEnv: func(name string) (string, bool) {
			if name == "FEVALGRAPH_CACHE_DIR" {
				return filepath.Join(dir, "store"), true
			}
			return os.LookupEnv(name)
		},
	}
}

// A program runs a project, reads its results, and finds that there is nothing left
// to do.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := lay(dir, example); err != nil {
		log.Fatal(err)
	}
	ctx, o := context.Background(), optionsFor(dir)

	out, err := eval.Run(ctx, o, eval.Request{})
	if err != nil {
		log.Fatal(err)
	}
	results, err := out.Results()
	if err != nil {
		log.Fatal(err)
	}
	for _, cell := range results.Cells {
		fmt.Printf("%s of %s: %s, score %v\n", cell.Solution, cell.Problem, cell.Status, *cell.Score)
	}
	again, err := eval.Run(ctx, o, eval.Request{Selection: eval.Selection{Targets: []string{"solution=small"}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("exit", again.Exit, "after", again.End.Executed, "nodes ran")
	// Output:
	// large of double: success, score 80
	// small of double: success, score 6
	// exit 0 after 0 nodes ran
}
