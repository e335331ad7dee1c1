package text

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Duration formats seconds in the two largest units that matter: "0.3s", "12.4s", "3m10s", "2h05m". Less than a
// tenth of a second is shown in milliseconds, and an invalid duration as "?".
func Duration(seconds float64) string {
	switch {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds < 0:
		return "?"
	case seconds == 0:
		return "0s"
	case seconds < 0.0995:
		return fmt.Sprintf("%.0fms", math.Ceil(seconds*1000))
	case seconds < 59.95:
		return fmt.Sprintf("%.1fs", seconds)
	}
	whole := int64(math.Round(math.Min(seconds, math.MaxInt64/2)))
	if whole < 3600 {
		return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
	}
	minutes := int64(math.Round(float64(whole) / 60))
	return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
}

// Bytes formats a size in powers of 1024: "0 B", "1023 B", "1.5 KiB", "4.0 GiB".
func Bytes(n int64) string {
	if n < 0 {
		return "?"
	}
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		// 1023.95 would print as 1024.0.
		if value /= 1024; value < 1023.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// Count returns a number with its noun: "1 cell", "2 cells".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Thousands groups the digits of a number: "1,204".
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Some joins at most most names, and adds the number of the others: "a, b and 3 more".
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Number formats a number with at most digits decimals; very large and very small numbers get an exponent.
func Number(v float64, digits int) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case size >= 1e9 || size > 0 && size < 1e-6:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	power := math.Pow10(digits)
	return strconv.FormatFloat(math.Round(v*power)/power+0, 'f', digits, 64) // +0 turns -0 into 0
}

// Figures returns a number format for values in a column: as many decimals as distinguish them, from one to
// six.
func Figures(beside []float64) func(float64) string {
	digits := 1
	if len(beside) > 0 {
		size, spread := 0.0, min(slices.Max(beside)-slices.Min(beside), math.MaxFloat64)
		for _, v := range beside {
			size = max(size, math.Abs(v))
		}
		for _, v := range []float64{size / 10, spread} {
			if v > 0 {
				digits = max(digits, min(6, 1-int(math.Floor(math.Log10(v)))))
			}
		}
	}
	return func(v float64) string { return Number(v, digits) }
}
