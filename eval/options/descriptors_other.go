//go:build !unix

package options

// DescriptorLimit is how many files this process may have open; 0 is no limit.
func DescriptorLimit() int { return 0 }
