package docker

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// control reads the container's standard output: first what the launching
// script says, then what the init says of the program's end. The program can
// write there as well, through /proc; all that it can bring about is another
// end of its own than it had.
type control struct {
	mu    sync.Mutex
	text  []byte
	word  string        // the script's; "" before it
	began time.Time     // when the word came
	said  chan struct{} // closed then
	end   *ending
}

// ending is how the init says that the program ended.
type ending struct {
	at     time.Time
	code   int    // when it exited
	signal string // when a signal ended it: "killed"
}

func newControl() *control { return &control{said: make(chan struct{})} }

// spoken is the line of an init at verbosity 2, which initEnv asks for.
var spoken = regexp.MustCompile(`Main child exited (?:normally \(with status '(\d+)'\)|with signal \(with signal '([^']+)'\))`)

// initEnv makes the init pass signals on to the whole process group of the
// program, as a terminal would, and say how it ended. Other inits do not heed
// it and say nothing.
var initEnv = []string{"TINI_VERBOSITY=2", "TINI_KILL_PROCESS_GROUP=1"}

// controlTail is how much is kept for a line that is not complete.
const controlTail = 512

// Write implements io.Writer; it never fails.
func (c *control) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, p...)
	for c.word == "" {
		line, rest, whole := bytes.Cut(c.text, []byte("\n"))
		if !whole {
			break
		}
		if word, found := strings.CutPrefix(string(line), wordPrefix); found {
			c.word, c.began = word, time.Now()
			close(c.said)
		}
		c.text = rest
	}
	for {
		found := spoken.FindSubmatchIndex(c.text)
		if found == nil {
			break
		}
		c.end = &ending{at: time.Now()}
		if found[2] >= 0 {
			c.end.code, _ = strconv.Atoi(string(c.text[found[2]:found[3]]))
		} else {
			c.end.signal = strings.ToLower(string(c.text[found[4]:found[5]]))
		}
		c.text = c.text[found[1]:]
	}
	c.text = append([]byte{}, c.text[max(0, len(c.text)-controlTail):]...)
	return len(p), nil
}

// launched returns the script's word and when it came.
func (c *control) launched() (word string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.word, c.began
}

// ended returns what the init said of the program's end, nil if nothing.
func (c *control) ended() *ending {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}
