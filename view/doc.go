// Package view renders everything that a user sees: progress during a run, diagnostics, plans, explanations,
// tables. It decides nothing, depends only on its arguments, and reads no files and no environment itself.
//
//	v := view.New(view.Auto, view.Options{Out: os.Stdout, Err: os.Stderr, Color: color})
//	defer v.Close()
//	engine.Run(ctx, event.Sinks{record, v})
//
// # Rules of the page
//
//  1. Answers go to stdout, progress and complaints to stderr. With --json, stdout has only JSON.
//  2. Only events that happened are narrated. A cached node is a number, never a line.
//  3. A failure is never only a number: it has its address, its message and its cause, and it stays on the
//     screen.
//  4. Colour repeats a word or a mark; it is never the only sign of a fact.
//  5. Words are the project's: fresh, stale, cached, blocked, broken. Failed is a result of the work; broken
//     is a failure of the machine or of fevalgraph. They never share a word.
//  6. Strings from elsewhere are escaped before they are shown; a message cannot move the cursor.
//  7. The same input gives the same bytes: no map order, and the clock comes in through Options.
//  8. A line is cut only if a command shows the whole.
package view
