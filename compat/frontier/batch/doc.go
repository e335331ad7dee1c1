// Package batch reads and writes the files of Frontier-CS's batch evaluations: Files are those of a results
// directory as its own tools read them, DecodeState reads what such a batch left, and HashFile and
// HashDirectory compute the hashes by which it recognizes the files of a result. It judges nothing and
// knows no nodes.
//
// A batch is a list of results of pairs. A pair is a solution's file, relative to the directory of all
// solutions, and a problem.
package batch
