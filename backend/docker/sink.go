package docker

import (
	"bytes"
	"io"
	"strings"
	"sync/atomic"
)

// sink takes the program's output.
type sink struct {
	w     io.Writer
	err   error        // the writer's first
	read  atomic.Int64 // bytes
	early bytes.Buffer // the first of them
}

// Write implements io.Writer and never fails: a full disk of ours must neither
// stop the program nor be blamed on it.
func (s *sink) Write(p []byte) (int, error) {
	s.read.Add(int64(len(p)))
	if room := excerptLimit - s.early.Len(); room > 0 {
		s.early.Write(p[:min(room, len(p))])
	}
	if s.w != nil && s.err == nil {
		_, s.err = s.w.Write(p)
	}
	return len(p), nil
}

const excerptLimit = 4 << 10

// excerpt is what was said by a container in which no program ran.
func (s *sink) excerpt() string {
	text := strings.TrimSpace(string(bytes.ToValidUTF8(s.early.Bytes(), []byte("?"))))
	if text == "" {
		return ""
	}
	return ": " + text
}
