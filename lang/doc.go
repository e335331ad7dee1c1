// Package lang is the HCL surface: it finds the files of a configuration,
// evaluates them and expands them into a Config, or says everything that is
// wrong with them, each thing with its place and a way to mend it.
//
//	config, findings := lang.Load(lang.Options{Dir: ".", Env: os.LookupEnv})
//
// It is the only place that knows what a block means, and knows nothing of
// nodes, keys or how tests run: plan compiles a Config, tasks does the work.
// It reads the files that a configuration names and looks whether others
// exist; it never writes, runs or hashes anything.
//
// The phases, each one file or a few:
//
//	source     find and parse fevalgraph.hcl, its siblings and includes
//	structure  compare every block with the table in schema*.go
//	declare    collect names; two of the same are a mistake
//	refs       resolve every reference, in blocks that evaluate or not
//	order      topological order; cycles are shown hop by hop
//	decode     evaluate each declaration once, in that order
//
// An attribute is a row of the table and a field with its name as hcl tag: fill reads it as the
// row's type and form say. What depends on several attributes follows in the block's function.
//
// Editors use Analyze, which knows places as well as values, and CursorAt, which knows them in
// texts that do not parse.
//
// A declaration that fails has an unknown value; what depends on it evaluates
// to unknown and stays silent, so that one mistake is one diagnostic. Those of
// an instance of a problem can stay with it, see Problem.Invalid; whatever is
// found before the last phase, or by for_each, is always the configuration's.
package lang
