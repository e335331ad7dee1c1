package event

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
)

// Served counts the nodes in the recorded runs of a project.
type Served struct {
	Runs   int `json:"runs"`
	Hits   int `json:"hits"`   // nodes that were served
	Misses int `json:"misses"` // nodes that ran
}

// ServedIn counts the nodes in the runs of a project's state directory that have ended.
func ServedIn(state Records) (Served, error) {
	var s Served
	ids, err := Runs(state)
	if err != nil {
		return s, err
	}
	for _, id := range ids {
		end, ok, err := OpenRun(state, id).End()
		if err != nil {
			return s, fmt.Errorf("reading the run record: %w", err)
		}
		if !ok {
			continue
		}
		s.Runs++
		s.Hits += end.Cached
		s.Misses += end.Executed
	}
	return s, nil
}

// Start returns the first event of the run, or false if it has none.
func (r *Run) Start() (RunStart, bool) {
	file, err := r.open(EventsFile)
	if err != nil {
		return RunStart{}, false
	}
	defer file.Close()
	line, err := bufio.NewReaderSize(io.LimitReader(file, maxEnd), maxEnd).ReadBytes('\n')
	if err != nil {
		return RunStart{}, false
	}
	start, ok := Decode(bytes.TrimRight(line, "\n")).(RunStart)
	return start, ok
}

// maxEnd exceeds the length of the first and the last line of a record.
const maxEnd = 64 << 10

// End returns the last event of the run, or false if the run ended without it. It reads only the end of the
// record.
func (r *Run) End() (RunEnd, bool, error) {
	file, err := r.open(EventsFile)
	if os.IsNotExist(err) {
		return RunEnd{}, false, nil
	}
	if err != nil {
		return RunEnd{}, false, err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return RunEnd{}, false, err
	}
	tail := make([]byte, min(size, maxEnd))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil {
		return RunEnd{}, false, err
	}
	tail = bytes.TrimRight(tail, "\n")
	end, ok := Decode(tail[bytes.LastIndexByte(tail, '\n')+1:]).(RunEnd)
	return end, ok, nil
}
