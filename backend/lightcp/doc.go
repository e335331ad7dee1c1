// Package lightcp hands whole submissions to a judge server that already runs
// and that fevalgraph neither starts nor ends:
//
//	POST /submit        {"pid","lang","code"} -> {"sid"}
//	GET  /result/:sid   {"status":"queued"}, or the result, once
//	GET  /problems      {"problems":[{"id"}]}
//
// The server has its own copy of the problems, compiles and runs by itself and
// tells the score at the end. That makes it a coarser thing than a
// backend.Sandbox: nothing of what it does can be cached, limited or looked
// into from here.
//
// Such servers have habits that a client must know. Submissions that arrive at
// the same time may get the same number, so this one sends them one after
// another. A submission to a problem that the server does not know ends the
// server, so it is asked for its problems first. A result can be fetched once;
// one that was lost on the way is gone. And a sandbox that failed is reported as a
// case that scored 0, with an empty message: what this package returns can be
// that, and only a second submission can tell.
package lightcp
