// Command fevalgraph is a make for code-benchmark evaluation.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
	"github.com/fevalgraph/fevalgraph/compat"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == backend.ContainerCommand {
		if err := workerhost.RunContainer(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "fevalgraph:", err)
			os.Exit(int(exit.NotJudged))
		}
		return
	}
	findToolsBeside()
	os.Exit(cli.Main(os.Args[1:], world()))
}

// world returns the program's access to the outside world.
func world() cli.IO {
	return cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, Benchmarks: compat.Benchmarks(), Kinds: kinds.All()}
}
