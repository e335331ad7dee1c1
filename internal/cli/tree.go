package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/plan"
)

// Commands returns the tree of commands and flags, for documentation and its tests. The commands must not be
// executed.
func Commands(benchmarks []plan.Benchmark) *cobra.Command {
	a := &app{io: IO{In: os.Stdin, Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }, Benchmarks: benchmarks}}
	return a.rootCommand()
}
