// Package lang implements the HCL language: it finds the files of a configuration, evaluates them and expands
// them into a Config, or reports all errors in them, each with its position and a hint.
//
//	config, findings := lang.Load(lang.Options{Dir: ".", Env: os.LookupEnv})
//
// Only lang knows the meaning of a block. It does not know nodes, keys or how tests run: plan compiles a
// Config, and tasks do the work. It reads the files that a configuration names and checks that others exist;
// it never writes, runs or hashes anything.
//
// The phases, each in one or a few files:
//
//	source     find and parse fevalgraph.hcl, its siblings and includes
//	structure  compare every block with the table: schema*.go, and Extensions
//	declare    collect names and report duplicates
//	refs       resolve every reference, in blocks that evaluate or not
//	order      topological order; cycles are shown hop by hop
//	decode     evaluate each declaration once, in that order
//
// An attribute is a row of the table and a field with its name as hcl tag: fill reads it according to the
// row's type and form. Each block's function checks rules about several attributes.
//
// Options contain parts of the language: readers of benchmarks' files, functions, and kinds of backends.
// Values that only a kind of backend reads are opaque here, as Attributes.
//
// Editors use Analyze, which finds declarations and values by position, and CursorAt, which also works on
// texts with syntax errors.
//
// A declaration that fails has an unknown value. Its dependents evaluate to unknown and stay silent, so that
// one error is one diagnostic. Errors in an instance of a problem can stay with it, see Problem.Invalid;
// errors that are found before the last phase, or by for_each, always belong to the configuration.
package lang
