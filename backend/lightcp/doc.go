// Package lightcp sends whole submissions to a running judge server, which fevalgraph neither starts nor
// ends:
//
//	POST /submit        {"pid","lang","code"} -> {"sid"}
//	GET  /result/:sid   {"status":"queued"}, or the result, once
//	GET  /problems      {"problems":[{"id"}]}
//
// The server has its own copy of the problems, compiles and runs, and returns the score. So it is coarser
// than a backend.Sandbox: none of its steps can be cached, limited or inspected from here, and a solution
// has one node.
//
// The client works around flaws of such servers. Submissions that arrive at the same time can get the same
// number, so the client sends them one after another. A submission to an unknown problem ends the server,
// so the client queries the list of problems first. A result can be fetched only once; if it is lost in
// transit, that is an error. A failed sandbox is reported as a case that scored 0 with an empty message;
// only a second submission can tell it from a real result.
package lightcp
