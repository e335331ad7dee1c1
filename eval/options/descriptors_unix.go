//go:build unix

package options

import (
	"math"
	"syscall"
)

// DescriptorLimit returns how many files this process can open; 0 means no limit. Go's runtime has raised
// the soft limit to the hard one.
func DescriptorLimit() int {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil || uint64(now.Cur) > math.MaxInt32 {
		return 0
	}
	return int(now.Cur)
}
