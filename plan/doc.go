// Package plan compiles a configuration into the graph of its evaluation, and reads results back out of an
// executed graph. Only plan knows both the language and the tasks. It does not decide which nodes are stale,
// and renders nothing.
//
//	p, err := plan.Compile(config, jobs, environment)
//	run, err := p.Graph.Execute(ctx, targets, options)
//	cells, err := p.Results(ctx, store, run, asked, p.Cells)
//
// A cell is a solution on a backend, once (repeat). These are its nodes, by kind of problem:
//
//	materialize(asset) --.                            shared by every cell of the problem
//	tests(checkpoint) ----+--> pytest --> parse --> aggregate
//	submission(solution) -'
//
//	testdata(case) --------+---------.                 judge: shared by every solution
//	checker ---------------|---------+
//	compile(solution) --> run --> check --> score
//
//	workspace, materialize(asset), submission --> command --> score
//	tests(directory), submission -----> verify --> score
//	materialize(solution) --> solve --> submission   of a reference that the problem's own script makes
//
// A node that runs on a backend whose image is built also needs context --> image. A task block is
//
//	input, submission --> task --> nodes that use its outputs
//	                          '--> figures: metrics of cells, which no verdict reads
//
// A problem that gives scores has one checkpoint without a name; addresses leave out empty parts.
//
// A Partition is the unit of compiling: the cells of one problem or, if it has many solutions, of a range of
// them. Ranges end at hashes of names, so one more solution changes one range. Environment.Rows can return
// the rows of a partition that is fresh, which is then not compiled.
//
// # Errors
//
// Compile fails if a backend cannot be created from its block, or cannot judge a problem. It reads nothing that a
// node reads: an unreadable source is an error of its node. A problem that is invalid with invalid =
// "report" becomes a node that always fails, and each of its cells a node that depends on it. A cell
// without checkpoints has one node, too.
package plan
