package event

import (
	"bytes"
	"fmt"
	"io"
)

// mostFollowed limits the bytes that Since reads at a time, unless a line is longer.
const mostFollowed = 4 << 20

// Since calls fn for the events of a run, which can be running, from an offset in its file on, and returns
// the offset of the next event. It reads a limited part: callers must repeat the call until the offset
// stops changing.
func (r *Run) Since(place int64, fn func(Event)) (int64, error) {
	file, err := r.open(EventsFile)
	if err != nil {
		return place, fmt.Errorf("reading the run record: %w", err)
	}
	defer file.Close()
	var lines []byte
	for window := int64(mostFollowed); ; window *= 2 { // until a whole line fits
		if lines, err = io.ReadAll(io.NewSectionReader(file, place, window)); err != nil {
			return place, fmt.Errorf("reading the run record: %w", err)
		}
		end := bytes.LastIndexByte(lines, '\n') + 1 // the last line can be incomplete
		if end > 0 || int64(len(lines)) < window {
			lines = lines[:end]
			break
		}
	}
	for line := range bytes.Lines(lines) {
		if e := Decode(line); e != nil {
			fn(e)
		}
	}
	return place + int64(len(lines)), nil
}
