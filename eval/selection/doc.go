// Package selection implements selectors for results: their axes, the names on each, and the results that
// they pick. Package eval applies selectors to a graph, since it knows the last verdicts.
package selection
