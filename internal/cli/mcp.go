package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/docs"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/mcp"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) mcpCommand() *cobra.Command {
	return command("mcp", "Run the MCP server for coding agents",
		`Mcp is a server of the Model Context Protocol: an agent starts it and sends
requests over stdin and stdout. Its tools are plan, explain, results, diff and
log, which only read, and run, for which the agent asks its user each time. It
executes only what the project is trusted with.`,
		`  fevalgraph mcp
  fevalgraph mcp -C evals`,
		func(cmd *cobra.Command, args []string) error {
			if _, ok := view.Terminal(a.io.In); ok {
				return usageError(cmd, errors.New("mcp is started by an agent, not in a terminal"))
			}
			err := mcp.Serve(cmd.Context(), io.NopCloser(a.io.In), stdio{nil, a.io.Out}, mcp.Options{Version: Version(), Call: a.asker(), Schema: docs.Schema})
			if err != nil {
				return exit.With(exit.NotJudged, err)
			}
			return nil
		})
}

// asker returns a function that executes commands on the project of this call, one at a time.
func (a *app) asker() func(ctx context.Context, args []string) (string, bool) {
	var one sync.Mutex
	return func(ctx context.Context, args []string) (string, bool) {
		one.Lock()
		defer one.Unlock()
		for _, arg := range args {
			if a.isOutside(arg) {
				return arg + " is outside of the project, whose files alone can be read\n", false
			}
		}
		var out, said bytes.Buffer
		asked := &app{io: IO{In: &bytes.Reader{}, Out: &out, Err: &said, LookupEnv: a.io.LookupEnv, Benchmarks: a.io.Benchmarks, Kinds: a.io.Kinds}}
		root := asked.rootCommand()
		root.SetArgs(append(a.projectArgs(), args...))
		root.SetIn(asked.io.In)
		root.SetOut(&out)
		root.SetErr(&said)
		if class := asked.complain(root.ExecuteContext(ctx)); class != exit.Passed && out.Len() == 0 {
			return said.String(), false
		}
		return out.String(), true
	}
}

// isOutside reports whether an argument is a path of something outside of the project's directory: an agent can ask for
// what a submission suggested to it.
func (a *app) isOutside(arg string) bool {
	dir, path := cmp.Or(a.flags.dir, "."), arg
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	file, err := subpath.Real(path)
	if err != nil {
		return false // it cannot be read either
	}
	root, err := subpath.Real(dir)
	return err != nil || !subpath.Contains(root, file)
}

// projectArgs returns the flags that select the project of this call.
func (a *app) projectArgs() []string {
	args := []string{"--chdir=" + a.flags.dir, "--file=" + a.flags.file}
	for _, v := range a.flags.vars {
		args = append(args, "--var="+v)
	}
	for _, file := range a.flags.varFiles {
		args = append(args, "--var-file="+file)
	}
	if a.flags.trust {
		args = append(args, "--trust")
	}
	return args
}
