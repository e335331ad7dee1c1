// Package eval is the Go API of fevalgraph: it opens a project, decides which of its nodes are stale, executes
// them, and returns results.
//
// A call takes Options, which name a project and the parts of the environment that it can use, and a request. It
// returns plain values:
//
//	out, err := eval.Run(ctx, eval.Options{Dir: "evals", LookupEnv: os.LookupEnv}, eval.Request{})
//	if err != nil {
//		return err // an *exit.Error, with its class of exit code
//	}
//	for _, cell := range out.Results.Cells {
//		fmt.Println(cell.Problem, cell.Solution, cell.Status)
//	}
//
// Run loads the configuration, compiles it to a graph, executes the graph and collects the results. Plan, Explain
// and Status compile and decide in the same way, and execute nothing. So does Since, with the answers that a run
// of another commit would have: those of a dry run in which unpredictable outputs are derived from keys. Results,
// Find, Log and ExplainPast read the records of past runs and need no valid configuration. Every call opens what
// it needs and closes it before it returns; Open is for callers that need the configuration and the graph.
//
// A call goes through stages. Each has the previous ones as fields and does not change them, except that a call loads its
// configuration when a stage needs it. A call stops at the stage that it needs:
//
//	call       open resources: configuration, state, stores, backends, trust
//	freshness  the partitions, and which of them are unchanged since the last run
//	Project    the graph of stale partitions; it contains fresh ones closed or expanded
//	goals      the nodes that a request selects
//	execution  the engine's report about them, of a run or a dry run
//	collected  the results of a run, which remember stores for the freshness of the next one
//
// The package combines others and does not decide about nodes or verdicts: graph decides which nodes are stale,
// tasks decide verdicts, and verdict decides what passes. The package is responsible for an invocation: which
// partitions are unchanged, which backend a block describes, which nodes a selector matches, and the sessions of
// crashed runs. Subpackages do what does not need an open project: options, exit classes, the stores of a call,
// records of past runs and their differences, shards and packs for other machines, upkeep.
//
// It prints nothing, and does not know flags. It reads the environment only through Options.LookupEnv, except that
// some tools get the caller's environment unchanged. Progress is sent to Request.Progress as events, and notes that
// are not errors to Options.Notify as values. A process can use it for several projects at once. Two calls for the
// same project behave like two processes: kernel locks separate them.
package eval
