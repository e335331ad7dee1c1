// Package selection has the words of selectors: the axes that they can speak of, the names
// that there are on each, and what they pick of results. What they pick of a graph is for
// package eval to say, which knows the last verdicts.
package selection
