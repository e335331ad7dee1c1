// Package rules is how Frontier-CS's own programs read what graders say: Judge
// that of the judge of its algorithmic track, Runner that of the runner for
// research problems. Problems ask for them with compat = "frontier".
//
// The arithmetic is theirs to the last bit, with its mistakes: whatever looks like
// a score counts, whoever printed it. Text goes in and numbers come out; the
// package knows no tasks.
package rules
