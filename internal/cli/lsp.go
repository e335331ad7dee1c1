package cli

import (
	"errors"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/lsp"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) lspCommand() *cobra.Command {
	cmd := command("lsp", "Run the language server for editors",
		`Lsp is a language server: an editor starts it and uses the Language Server
Protocol over stdin and stdout. It shows the findings of validate during typing,
completes, and shows documentation, values and declarations. It executes nothing
that a project names.`,
		`  fevalgraph lsp
  fevalgraph lsp --var root=/data/checkout`,
		func(cmd *cobra.Command, args []string) error {
			if _, ok := view.Terminal(a.io.In); ok {
				return usageError(cmd, errors.New("lsp is started by an editor, not in a terminal"))
			}
			debug.SetGCPercent(300) // users wait for garbage collections while they type, and the heap is small
			if !lsp.Serve(cmd.Context(), stdio{a.io.In, a.io.Out}, lsp.Options{Project: a.options()}) {
				return exit.With(exit.Failed, nil)
			}
			return nil
		})
	cmd.Flags().Bool("stdio", false, "accepted because many editors pass it: stdin and stdout are always used")
	return cmd
}

// stdio are the program's own streams, which are closed when it ends.
type stdio struct {
	io.Reader
	io.Writer
}

func (stdio) Close() error { return nil }
