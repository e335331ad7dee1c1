// Package upkeep looks after what projects leave on a machine: it checks what runs need,
// counts and trims the store, and ends and removes what crashed or old runs left.
package upkeep
