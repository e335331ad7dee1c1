// Package gen gets solutions from models: it makes a graph of requests and turns answers into plain files.
// Evaluation does not know it, and grades the files.
//
// spec ─┐ ├─► prompt ─► answer ─► files ─┐             of the first checkpoint │
// ▼ spec ─┴──────────────────────────► prompt ─► answer ─► files      of the second …
//
// Each of the three is a node of package graph, which therefore decides what has to be requested, retries,
// runs as many requests at once as a generator's pool has slots, and stores answers. The key of an answer is
// its request: endpoint or program, model, parameters, system message, number of the attempt, and the text
// of the prompt. A prompt that is made of other things and has the same text requests nothing again, and
// neither does a change of how answers are read. API keys are in no key and no output.
//
// A Batch makes the graph. After an execution, also an interrupted one, Batch.Place writes the files below
// an os.Root. The record next to an attempt contains the digests of these files, so that edits by hand are
// seen and kept; it does not decide what is fresh.
//
// Package model has models behind an endpoint and models that are programs; keypool hands out API keys within
// their limits, and a request that was throttled or refused for its key is no attempt; answer parses answers.
package gen
