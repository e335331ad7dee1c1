// Package inspect reads logs of inspect_ai: archives, whose members are compressed by deflate or
// zstd, and JSON. Samples are problems, epochs are attempts, and scorers are metrics.
package inspect

import (
	"bytes"
	"os"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Benchmark returns the reader of inspect_ai's logs.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "inspect", Logs: []plan.LogFormat{{Name: "inspect", Title: "a log of inspect_ai", Holds: holds, Read: read}}}
}

func holds(head []byte) bool {
	if isArchive(head) {
		return bytes.Contains(head, []byte(startMember)) || bytes.Contains(head, []byte(headerMember))
	}
	keys := pyjson.Keys(head)
	return keys["status"] && keys["eval"] && keys["eval.task"]
}

func isArchive(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// read reads a log of either form.
func read(file *os.File) ([]*plan.Log, error) {
	head := make([]byte, 4)
	n, _ := file.ReadAt(head, 0) // too short for an archive
	l := newLog()
	var err error
	if isArchive(head[:n]) {
		err = l.archive(file)
	} else {
		err = l.json(pyjson.NewReader(file, pyjson.Options{}))
	}
	if err != nil {
		return nil, err
	}
	out, err := l.finish()
	return []*plan.Log{out}, err
}
