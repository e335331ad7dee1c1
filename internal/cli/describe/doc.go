// Package describe formats projects and the results of calls as fields, rows of tables, sentences, and the
// objects of --json. Commands pass it the results of eval and print its output; it calls, decides and prints
// nothing. Plain values are formatted by package view.
package describe
