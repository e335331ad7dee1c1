// Package upkeep maintains the data of projects on a machine: it checks what runs need, counts and trims the
// store, and removes what crashed and old runs left.
package upkeep
