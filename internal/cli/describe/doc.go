// Package describe describes projects and the outcomes of calls in words: as fields, rows of tables,
// sentences, and the objects of --json. Commands pass it the results of eval and print its output; it calls,
// decides and prints nothing. Descriptions of plain values are in package view.
package describe
