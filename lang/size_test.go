package lang

import "testing"

func TestParseSize(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1 is an error
	}{
		{"512MiB", 512 << 20}, {"1.5GB", 1_500_000_000}, {" 100 B ", 100}, {"0B", 0},
		{"512", -1}, {"", -1}, {"MiB", -1}, {"-1B", -1}, {"NaNB", -1}, {"InfB", -1}, {"9000000TiB", -1}, {"1 mib", -1},
	}
	for _, test := range tests {
		got, err := ParseSize(test.text)
		if (err != nil) != (test.want < 0) || err == nil && got != test.want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", test.text, got, err, test.want)
		}
	}
}
