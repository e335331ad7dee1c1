// Package eval is fevalgraph as a Go package: it opens a project, decides which
// of its nodes are stale, executes them, and returns results.
//
// A call takes Options, which name a project and what it may use of the outside
// world, and a request, and returns plain values:
//
//	out, err := eval.Run(ctx, eval.Options{Dir: "evals", LookupEnv: os.LookupEnv}, eval.Request{})
//	if err != nil {
//		return err // an *exit.Error, with the class of exit code that it calls for
//	}
//	for _, cell := range out.Results.Cells {
//		fmt.Println(cell.Problem, cell.Solution, cell.Status)
//	}
//
// Run loads the configuration, compiles it to a graph, executes the graph and
// collects the results. Plan, Explain and Status compile and decide in the same
// way and execute nothing. Since does so on the answers that a run of another commit would have: those of a dry run
// in which outputs that no task can predict follow from keys. Results, Find, Log and ExplainPast read the records of past
// runs and need no valid configuration. Every call opens what it needs and closes
// it before it returns; Open is for callers that want the configuration and the
// graph themselves.
//
// A call goes through stages. Each is a value made of the one before, which it embeds, and a call
// stops at the stage that it needs:
//
//	call       what is open: the configuration, the state, stores, backends, trust
//	freshness  the partitions, and which of them are as the last run left them
//	Project    the graph of the others; fresh partitions are closed or expanded in it
//	goals      the nodes that a request means
//	execution  the engine's report about them, of a run or a dry run
//	collected  the results of a run, which remember keeps for the next one's freshness
//
// The package joins the rooms that do the work and decides nothing of its own
// about staleness or verdicts: graph decides what is stale, tasks decide what a
// verdict is, verdict decides what passes. What is its own is what belongs to an
// invocation: which partitions are as they were, which backend a block stands
// for, which nodes a selector picks, and the sessions of runs that crashed. Rooms
// below it have what does not need an open project: options, classes of endings,
// the stores of a call, records of past runs and what differs between them, shards and
// packs for other machines, upkeep.
//
// It prints nothing, reads the environment only through Options.LookupEnv, except
// for tools that get the caller's environment as it is, and knows no flags.
// Progress goes to Request.Progress as events, remarks that are no errors
// to Options.Notify as values. A process may use it for several projects at once;
// two calls for one project are as two processes are: the kernel's locks keep
// them apart.
package eval
