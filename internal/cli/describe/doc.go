// Package describe says in words what a project has and what became of a call: as fields, rows
// of tables, sentences, and the objects of --json. Commands hand it what eval returned and print
// what it returns; it calls, decides and prints nothing. What needs plain values alone is in view.
package describe
