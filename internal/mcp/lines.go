package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine limits a message of an agent in bytes, below the limit of the library.
const maxLine = 8 << 20

// lines reads messages, one a line, and returns those for the library. The library would end the conversation at a
// malformed message, so lines answers it with an error. A batch becomes several messages.
type lines struct {
	io.Closer
	in   *bufio.Reader
	out  io.Writer
	next []byte // read and not returned
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{Closer: in, in: bufio.NewReader(in), out: out}
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.next) == 0 {
		line, err := l.line()
		if len(line) > 0 {
			if err := l.check(line); err != nil {
				return 0, err
			}
		} else if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.next)
	l.next = l.next[n:]
	return n, nil
}

// line returns the next line without blanks around it, the last one with an error. A line that is too large is cut
// behind the limit.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimSpace(line), err
		}
	}
}

// check adds the messages of a line to l.next and answers what is not a message.
func (l *lines) check(line []byte) error {
	messages := []json.RawMessage{line}
	switch {
	case len(line) > maxLine:
		return l.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is larger than %d MiB", maxLine>>20))
	case !json.Valid(line):
		return l.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON")
	case line[0] == '[':
		if err := json.Unmarshal(line, &messages); err != nil || len(messages) == 0 {
			return l.refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
		}
	}
	for _, m := range messages {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			if err := l.refuse(m, jsonrpc.CodeInvalidRequest, "the message is not a request of JSON-RPC 2.0: "+err.Error()); err != nil {
				return err
			}
			continue
		}
		l.next = append(append(l.next, m...), '\n')
	}
	return nil
}

// refuse answers a message with an error, with its ID if that can be read.
func (l *lines) refuse(message json.RawMessage, code int, why string) error {
	var request struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(message, &request)
	switch request.ID.(type) {
	case string, float64:
	default:
		request.ID = nil
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": request.ID, "error": jsonrpc.Error{Code: int64(code), Message: why}})
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(answer, '\n'))
	return err
}

// wholeWrites lets two writers share an output: no write is within another.
type wholeWrites struct {
	io.WriteCloser
	mu sync.Mutex
}

func (w *wholeWrites) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(p)
}
