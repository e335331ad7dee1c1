// Command fevalgraph is a make for code-benchmark evaluation.
package main

import (
	"os"

	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/compat"
	"github.com/fevalgraph/fevalgraph/internal/cli"
)

func main() {
	findToolsBeside()
	os.Exit(cli.Main(os.Args[1:], cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, Benchmarks: compat.Benchmarks(), Kinds: kinds.All(),
	}))
}
