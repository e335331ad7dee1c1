package event

import (
	"bytes"
	"fmt"
	"io"
)

// mostFollowed bounds what Since reads at a time, in bytes, unless one line is longer.
const mostFollowed = 4 << 20

// Since calls fn for the events that a run, which may go on, recorded from a place in its
// file on, and returns the place of the next. It reads a part of many: a caller asks
// again while the place moves.
func (r *Run) Since(place int64, fn func(Event)) (int64, error) {
	file, err := r.open(EventsFile)
	if err != nil {
		return place, fmt.Errorf("reading the run record: %w", err)
	}
	defer file.Close()
	var lines []byte
	for window := int64(mostFollowed); ; window *= 2 { // until a line fits
		if lines, err = io.ReadAll(io.NewSectionReader(file, place, window)); err != nil {
			return place, fmt.Errorf("reading the run record: %w", err)
		}
		end := bytes.LastIndexByte(lines, '\n') + 1 // the last line may not be whole yet
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
