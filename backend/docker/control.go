package docker

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// control reads the container's standard output: first what the launching
// script says, then what the init says of the program's end. The program can
// write there as well, through /proc; all that it can bring about is another
// end of its own than it had.
type control struct {
	mu      sync.Mutex
	text    []byte
	word    string        // the script's; "" before it
	began   time.Time     // when the word came
	said    chan struct{} // closed then
	end     *ending
	last    *regexp.Regexp // the script's last line; nil when it has none
	over    bool           // that line came
	kills   int            // processes that were killed because memory ran out,
	counted bool           // if that line says how many
	errs    *parted        // the program's standard error, when it is here, too
	read    atomic.Int64
}

// ending is how the init says that the program ended.
type ending struct {
	at     time.Time
	code   int    // when it exited
	signal string // when a signal ended it: "killed"
}

// newControl returns one that hands on to errs what the program says here. Nil
// is for a program that has no business here.
func newControl(errs io.Writer, token string) *control {
	c := &control{said: make(chan struct{})}
	lines := initLine()
	if token != "" {
		c.last = regexp.MustCompile(regexp.QuoteMeta(wordPrefix+token) + ` (\d*)\n`)
		lines = regexp.MustCompile(initLine().String() + "|" + c.last.String())
	}
	if errs != nil {
		c.errs = &parted{w: errs, lines: lines}
	}
	return c
}

// spoken is the line of an init at verbosity 2, which initEnv asks for.
var spoken = lazyregexp.New(`Main child exited (?:normally \(with status '(\d+)'\)|with signal \(with signal '([^']+)'\))`)

// initEnv makes the init pass signals on to the whole process group of the
// program, as a terminal would, and say how it ended. Other inits ignore
// it and print nothing.
var initEnv = []string{"TINI_VERBOSITY=2", "TINI_KILL_PROCESS_GROUP=1"}

// controlTail is how much is kept for a line that is not complete.
const controlTail = 512

// Write implements io.Writer; it never fails.
func (c *control) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Add(int64(len(p)))
	if c.word != "" && c.errs != nil {
		c.errs.write(p)
	}
	c.text = append(c.text, p...)
	for c.word == "" {
		line, rest, whole := bytes.Cut(c.text, []byte("\n"))
		if !whole {
			break
		}
		if word, found := strings.CutPrefix(string(line), wordPrefix); found {
			c.word, c.began = word, time.Now()
			close(c.said)
			if c.errs != nil {
				c.errs.write(rest)
			}
		}
		c.text = rest
	}
	for !(c.over && c.end != nil) && c.readEnd() {
	}
	c.text = append([]byte{}, c.text[max(0, len(c.text)-controlTail):]...)
	return len(p), nil
}

// readEnd reads the first line in the text that says something of the program's
// end, and reports whether there was one.
func (c *control) readEnd() bool {
	found := spoken().FindSubmatchIndex(c.text)
	if c.last != nil {
		if last := c.last.FindSubmatchIndex(c.text); last != nil && (found == nil || last[0] < found[0]) {
			// What comes now is about the script. It counts when the program has
			// ended its own init, which then said nothing.
			c.over = true
			kills, err := strconv.Atoi(string(c.text[last[2]:last[3]]))
			c.kills, c.counted = kills, err == nil
			c.text = c.text[last[1]:]
			return c.end == nil
		}
	}
	if found == nil {
		return false
	}
	c.end = &ending{at: time.Now()}
	if found[2] >= 0 {
		c.end.code, _ = strconv.Atoi(string(c.text[found[2]:found[3]]))
	} else {
		c.end.signal = strings.ToLower(string(c.text[found[4]:found[5]]))
	}
	c.text = c.text[found[1]:]
	return true
}

// oomKills returns how many processes were killed because memory ran out, if the
// script says it.
func (c *control) oomKills() (kills int, counted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kills, c.counted
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

// flush hands on the rest of the program's standard error, after all was
// written. The error is that of who takes it.
func (c *control) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errs == nil {
		return nil
	}
	return c.errs.flush()
}

// parted hands on what a program, the init and the script say on one stream, but
// for what the latter two say.
type parted struct {
	w     io.Writer
	lines *regexp.Regexp // what the init and the script say
	line  []byte         // that is not complete
	err   error          // w's first
}

// initLine is what the init says, with what stands before it on its line.
var initLine = lazyregexp.New(`\[[A-Z]+ +tini \(\d+\)\] [^\n]*\n?`)

// partedRoom is how long a line may be, in bytes, before it is handed on as it
// is.
const partedRoom = 64 << 10

func (p *parted) write(text []byte) {
	p.line = append(p.line, text...)
	whole := bytes.LastIndexByte(p.line, '\n') + 1
	if whole == 0 && len(p.line) > partedRoom {
		whole = len(p.line) - controlTail
	}
	p.hand(p.line[:whole])
	p.line = append([]byte{}, p.line[whole:]...)
}

func (p *parted) flush() error {
	p.hand(p.line)
	p.line = nil
	return p.err
}

func (p *parted) hand(text []byte) {
	if text = p.lines.ReplaceAll(text, nil); len(text) > 0 && p.err == nil {
		_, p.err = p.w.Write(text)
	}
}
