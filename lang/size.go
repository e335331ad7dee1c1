package lang

import (
	"fmt"
	"strconv"
	"strings"
)

// sizeUnits are the suffixes of sizes, longest first.
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseSize reads a number of bytes with a unit: "512MiB", "1.5GB", "100B".
func ParseSize(text string) (int64, error) {
	text = strings.TrimSpace(text)
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n >= 0) || n*u.bytes > 1<<62 {
			return 0, fmt.Errorf("%q is not a size such as 512MiB", text)
		}
		return int64(n * u.bytes), nil
	}
	return 0, fmt.Errorf("%q has no unit; write 512MiB or 5GB", text)
}
