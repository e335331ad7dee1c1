//go:build !linux

package backend

// FindLowLimits returns nil: limits are left unchanged.
func FindLowLimits() LowLimits { return nil }
