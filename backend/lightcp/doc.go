// Package lightcp hands whole submissions to a judge server that is running already and that fevalgraph
// neither starts nor ends:
//
//	POST /submit        {"pid","lang","code"} -> {"sid"}
//	GET  /result/:sid   {"status":"queued"}, or the result, once
//	GET  /problems      {"problems":[{"id"}]}
//
// The server has its own copy of the problems, compiles and runs, and returns the score. So it is coarser
// than a backend.Sandbox: none of its steps can be cached, limited or inspected from here, and a solution
// has one node.
//
// A client must know the habits of such servers. Submissions that arrive at the same time can get the same
// number, so this client sends them one after another. A submission to an unknown problem ends the server,
// so it is asked for its problems first. A result can be fetched once; a result that is lost on the way is
// gone, which is an error. A sandbox that failed is reported as a case that scored 0, with an empty message:
// a returned result can be that, and only a second submission can tell.
package lightcp
