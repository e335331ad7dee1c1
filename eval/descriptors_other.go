//go:build !unix

package eval

// descriptorLimit is how many files this process may have open; 0 is no limit.
func descriptorLimit() int { return 0 }
