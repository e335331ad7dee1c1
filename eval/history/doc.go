// Package history reads what runs recorded: their results, the nodes that they decided
// about or served, and how they ended. It needs no valid configuration, and evaluates
// nothing.
package history
