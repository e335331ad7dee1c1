// Package view is everything that a person sees: progress while a run goes
// on, diagnostics, plans, explanations, tables. It decides nothing and knows
// nothing that it was not handed; it reads no file and no environment of its
// own.
//
//	v := view.New(view.Auto, view.Options{Out: os.Stdout, Err: os.Stderr, Color: color})
//	defer v.Close()
//	engine.Run(ctx, event.Sinks{record, v})
//
// # Rules of the page
//
//  1. Answers go to stdout, progress and complaints to stderr. With --json,
//     stdout holds JSON and nothing else.
//  2. What did not happen is not narrated. A cached node is a number, never a
//     line.
//  3. What went wrong is never only a number: it has its address, its message
//     and what to blame, and it stays on the screen.
//  4. Colour repeats a word or a mark; no fact is in colour alone.
//  5. Words are the project's: fresh, stale, cached, blocked, broken. Failed
//     is the work's own no; broken is ours. They never share a word.
//  6. Strings from elsewhere are escaped before they are shown; a message
//     cannot move the cursor.
//  7. The same input gives the same bytes: no map order, and the clock comes
//     in through Options.
//  8. A line is cut only where the whole is one command away.
package view
