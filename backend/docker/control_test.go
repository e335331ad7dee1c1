package docker

import (
	"strings"
	"testing"
)

func TestControl(t *testing.T) {
	const (
		spawned  = "[INFO  tini (1)] Spawned child process '/bin/sh' with pid '7'\n"
		exited   = "[INFO  tini (1)] Main child exited normally (with status '137')\n"
		signaled = "[INFO  tini (1)] Main child exited with signal (with signal 'Segmentation fault')\n"
		ready    = wordPrefix + wordReady + "\n"
		last     = wordPrefix + "token 12\n"
	)
	for _, test := range []struct {
		name, text string
		word       string
		end        *ending
	}{
		{"nothing", "", "", nil},
		{"init first", spawned + ready + exited, wordReady, &ending{code: 137}},
		{"script first", ready + spawned + signaled, wordReady, &ending{signal: "segmentation fault"}},
		{"no end", spawned + ready, wordReady, nil},
		{"an init that says nothing", ready, wordReady, nil},
		{"refused", spawned + wordPrefix + wordAbsent + "\n" + "[INFO  tini (1)] Main child exited normally (with status '0')\n", wordAbsent, &ending{}},
		{"the first word counts", ready + wordPrefix + wordAbsent + "\n", wordReady, nil},
		{"half a word", wordPrefix + "rea", "", nil},
		{"the program writes there", spawned + ready + "no line end" + exited + "more", wordReady, &ending{code: 137}},
		{"the last end counts", ready + exited + signaled, wordReady, &ending{signal: "segmentation fault"}},
		{"the script outlives it", ready + signaled + last + exited, wordReady, &ending{signal: "segmentation fault"}},
		{"its init was killed", ready + last + exited, wordReady, &ending{code: 137}},
		{"another token", ready + signaled + wordPrefix + "nekot 3\n" + exited, wordReady, &ending{code: 137}},
	} {
		for cut := range len(test.text) + 1 {
			c := newControl(nil, "token")
			for _, part := range []string{test.text[:cut], test.text[cut:]} {
				if n, err := c.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("%s: wrote %d, %v", test.name, n, err)
				}
			}
			word, _ := c.launched()
			end := c.ended()
			if end != nil {
				end.at = test.end.at
			}
			same := (end == nil) == (test.end == nil) && (end == nil || *end == *test.end)
			if kills, counted := c.oomKills(); counted != strings.Contains(test.text, last) || counted != (kills == 12) {
				t.Errorf("%s, cut at %d: %d kills, %t", test.name, cut, kills, counted)
			}
			if word != test.word || !same {
				t.Errorf("%s, cut at %d: got %q, %+v", test.name, cut, word, end)
			}
		}
	}
}

// A program that writes without end into the init's output costs no memory.
func TestControlIsBounded(t *testing.T) {
	c := newControl(nil, "token")
	flood := make([]byte, 64<<10)
	_, _ = c.Write([]byte(wordPrefix + wordReady + "\n"))
	for range 100 {
		_, _ = c.Write(flood)
	}
	if len(c.text) > controlTail {
		t.Errorf("keeps %d bytes", len(c.text))
	}
}
