// Package generate has models make solutions: it opens a project, finds out which requests are missing,
// checks that the project is trusted to use the keys for them, sends them, and writes the files. It is
// separate from evaluation, which does without it.
//
// A dry run of the graph comes first: only generators with missing requests need keys and trust. Answers are
// in a store of the project that no gc of results touches, since they cost money (options.AnswersDir), and
// calls are recorded next to them. Errors have the class of exit code that they call for.
package generate
