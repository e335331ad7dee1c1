package view

import "github.com/fevalgraph/fevalgraph/report/text"

// Bytes shows a size in powers of 1024: "512 B", "1.5 KiB".
func Bytes(n int64) string { return text.Bytes(n) }
