// Package gen asks models for solutions: it makes a graph of requests and turns answers into
// plain files. Evaluation knows nothing of it, and grades what is there.
//
//	spec ─┐
//	      ├─► prompt ─► answer ─► files ─┐             of the first checkpoint
//	      │                              ▼
//	spec ─┴──────────────────────────► prompt ─► answer ─► files      of the second …
//
// Each of the three is a node of the engine, package graph, which therefore decides what has to
// be asked, retries what may pass, runs as many at once as the limits of keys allow, and keeps
// answers. The key of an answer is its request: who is asked, the parameters, the text of the
// prompt, and the number of the attempt. API keys are in no key and no output. A prompt that
// is made of other things and has the same text asks nothing again; an answer that is read by
// other rules is not asked for again.
//
// Package model has what a model is; openai and program have such models; keypool hands out
// API keys; answer reads answers.
package gen
