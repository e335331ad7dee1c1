// Package generate makes solutions with models: it opens a project, determines which requests are missing,
// checks that the project may use the keys for them, sends them, and writes the files. Evaluation does not
// depend on it.
//
// A dry run of the graph comes first: only generators with missing requests need keys and trust. Answers cost
// money, so they are in a separate store of the project that gc does not touch (options.AnswersDir), with the
// records of calls. Errors have a class of exit code.
package generate
