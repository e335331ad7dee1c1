// Package rules reads graders' output as Frontier-CS's own programs do: Judge as the judge of its
// algorithmic track, Runner as the runner for research problems. Problems select them with compat =
// "frontier".
//
// The arithmetic is theirs to the last bit, with its errors: anything that looks like a score counts,
// whatever printed it. Text goes in and numbers come out; the package knows no tasks.
package rules
