package answer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Models get the numbers of lines in diffs wrong, and the rest mostly right. So a hunk is
// looked for by its lines, nearest to where it claims to be, and its counts are not believed.
// Libraries that apply diffs go by the numbers.

// maxCompared bounds how many lines are compared for the diffs of an answer, which may be made
// to match late everywhere.
const maxCompared = 20_000_000

// hunk is a change of consecutive lines.
type hunk struct {
	at       int      // line that it claims to begin at, from 0
	old, new []string // with their ends
}

// change is what a diff does to one file.
type change struct {
	from, to string // paths; "" is none
	hunks    []hunk
}

// patch applies a unified diff of any number of files.
func (s *solution) patch(text string) error {
	changes := parseDiff(text)
	if len(changes) == 0 {
		return errors.New("the diff in the answer names no file")
	}
	for _, c := range changes {
		if err := s.apply(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *solution) apply(c change) error {
	for _, path := range []string{c.from, c.to} {
		if err := CheckPath(path); path != "" && err != nil {
			return err
		}
	}
	before, there := s.files[c.from]
	switch {
	case c.from == "":
	case !there && c.to != "" && len(c.hunks) > 0 && allNew(c.hunks): // a new file that claims to be old
	case !there:
		return fmt.Errorf("the answer changes %q, which is not there", c.from)
	}
	if c.to == "" {
		delete(s.files, c.from)
		return nil
	}
	lines := splitLines(before)
	next := 0 // hunks follow each other
	for i, h := range c.hunks {
		at := s.find(lines, h, next)
		if s.compared > maxCompared {
			return fmt.Errorf("the diff of %q is too large", c.to)
		}
		if at < 0 {
			return fmt.Errorf("part %d of the diff of %q fits nowhere", i+1, c.to)
		}
		if at+len(h.old) == len(lines) && len(h.new) > 0 && len(lines) > 0 && len(h.old) == 0 && !strings.HasSuffix(lines[len(lines)-1], "\n") {
			lines[len(lines)-1] += "\n"
		}
		rest := append([]string{}, lines[at+len(h.old):]...)
		lines = append(append(lines[:at], h.new...), rest...)
		next = at + len(h.new)
	}
	if c.from != "" && c.from != c.to {
		delete(s.files, c.from)
	}
	return s.write(c.to, strings.Join(lines, ""))
}

func allNew(hunks []hunk) bool {
	for _, h := range hunks {
		if len(h.old) > 0 {
			return false
		}
	}
	return true
}

// find is where the old lines of a hunk are, from a line on, nearest to where it claims to be.
func (s *solution) find(lines []string, h hunk, from int) int {
	if len(h.old) == 0 {
		return max(from, min(h.at, len(lines)))
	}
	best := -1
	for at := from; at+len(h.old) <= len(lines) && s.compared <= maxCompared; at++ {
		if s.matches(lines[at:], h.old) && (best < 0 || distance(at, h.at) < distance(best, h.at)) {
			best = at
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// matches compares lines without what is invisible at their ends.
func (s *solution) matches(lines, old []string) bool {
	for i := range old {
		s.compared++
		if strings.TrimRight(lines[i], " \t\r\n") != strings.TrimRight(old[i], " \t\r\n") {
			return false
		}
	}
	return true
}

// parseDiff reads a unified diff. What stands between the files is skipped.
func parseDiff(text string) []change {
	var changes []change
	lines := splitLines(text)
	inHunk := false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		last := len(changes) - 1
		switch {
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			changes = append(changes, change{from: diffPath(line), to: diffPath(lines[i+1])})
			inHunk = false
			i++
		case last < 0:
		case strings.HasPrefix(line, "@@"):
			changes[last].hunks = append(changes[last].hunks, hunk{at: claimed(line)})
			inHunk = true
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
			inHunk = false
		case inHunk:
			h := &changes[last].hunks[len(changes[last].hunks)-1]
			inHunk = h.add(line)
		}
	}
	for i := range changes {
		for j := range changes[i].hunks {
			changes[i].hunks[j].trim()
		}
	}
	return changes
}

// add takes a line of a hunk; false is that it is none.
func (h *hunk) add(line string) bool {
	switch line[0] {
	case ' ':
		h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
	case '\n': // a blank line of context that has lost its blank
		h.old, h.new = append(h.old, line), append(h.new, line)
	case '-':
		h.old = append(h.old, line[1:])
	case '+':
		h.new = append(h.new, line[1:])
	case '\\': // no newline at the end of the file: of the line before
	default:
		return false
	}
	return true
}

// trim drops blank lines at the end, which belong to the text around the diff.
func (h *hunk) trim() {
	for len(h.old) > 0 && len(h.new) > 0 && h.old[len(h.old)-1] == "\n" && h.new[len(h.new)-1] == "\n" {
		h.old, h.new = h.old[:len(h.old)-1], h.new[:len(h.new)-1]
	}
}

// claimed is the line at which a hunk claims to begin, from 0.
func claimed(header string) int {
	_, numbers, _ := strings.Cut(header, "-")
	end := strings.IndexFunc(numbers, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(numbers)
	}
	n, err := strconv.Atoi(numbers[:end])
	if err != nil || n < 1 {
		return 0
	}
	return n - 1
}

// diffPath is the path in a line that begins with --- or +++; "" for /dev/null.
func diffPath(line string) string {
	path, _, _ := strings.Cut(strings.TrimSpace(line[4:]), "\t")
	path = strings.Trim(path, `"`)
	if path == "/dev/null" {
		return ""
	}
	if after, ok := strings.CutPrefix(path, "a/"); ok && strings.HasPrefix(line, "---") {
		return after
	}
	if after, ok := strings.CutPrefix(path, "b/"); ok && strings.HasPrefix(line, "+++") {
		return after
	}
	return path
}

// splitLines are the lines of a text with their ends.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
