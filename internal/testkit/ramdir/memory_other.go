//go:build !linux

package ramdir

func fits(string) bool { return false }
