package plan

import (
	"strings"
	"testing"
)

func TestLogSize(t *testing.T) {
	name := strings.Repeat("n", MaxLogName)
	for what, c := range map[string]struct {
		add  func(*LogSize) error
		fit  int // how often it fits
		want string
	}{
		"names":  {func(s *LogSize) error { return s.Names(name) }, maxLogText / MaxLogName, "larger than 256 MiB"},
		"values": {func(s *LogSize) error { return s.Values(1000) }, maxLogValues / 1000, "more than 3000000 values"},
		"a name": {func(s *LogSize) error { return s.Names(name + "n") }, 0, "longer than 4096 bytes"},
		"an attempt": {func(s *LogSize) error {
			return s.Attempt(&LogAttempt{Problem: name, Message: name, Values: map[string]float64{"m": 1}})
		}, maxLogText / MaxLogName / 2, "larger than 256 MiB"},
	} {
		var s LogSize
		for i := range c.fit {
			if err := c.add(&s); err != nil {
				t.Fatalf("%s %d: %v", what, i, err)
			}
		}
		if err := c.add(&s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}
