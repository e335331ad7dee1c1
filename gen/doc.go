// Package gen gets solutions from models: it builds a graph of requests and turns answers into plain files.
// Evaluation grades the files and does not depend on gen.
//
//	spec ─┐
//	      ├─► prompt ─► answer ─► files ─┐             of the first checkpoint
//	      │                              ▼
//	spec ─┴──────────────────────────► prompt ─► answer ─► files      of the second …
//
// Each of the three is a node of package graph, which therefore decides which requests are needed, retries,
// runs as many requests at once as a generator's pool has slots, and stores answers. The key of an answer is
// its request: endpoint or program, model, parameters, system message, number of the attempt, and the text
// of the prompt. A prompt with the same text from other sources sends no new request, and neither does a
// change of how answers are parsed. API keys are in no key and no output.
//
// A Batch contains the graph. After an execution, also an interrupted one, Batch.Place writes the files below
// an os.Root. The record next to an attempt contains the digests of these files, so that edits by hand are
// detected and kept; it does not decide which nodes are fresh.
//
// Package model calls models behind an endpoint and models that are programs. Package keypool hands out API
// keys within their limits; a request that was throttled or refused for its key does not count as an attempt.
// Package answer parses answers.
package gen
