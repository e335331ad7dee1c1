//go:build !unix

package options

// DescriptorLimit returns how many files this process can open; 0 means no limit.
func DescriptorLimit() int { return 0 }
