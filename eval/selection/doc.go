// Package selection implements selectors for results: axes, their names, and the results that match. Package
// eval applies selectors to a graph, since it knows the last verdicts.
package selection
