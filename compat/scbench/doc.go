// Package scbench writes results in the files that SlopCodeBench's own tools read: evaluation.json with its
// evaluation/ directory for each checkpoint, and the rows of checkpoint_results.jsonl. The text equals the
// output of Python's json module, to the byte: key order, indentation, ASCII escapes, the shortest form of
// floats.
//
// It writes what fevalgraph measured and nothing else: costs, tokens and code
// quality are other tools' facts.
package scbench
