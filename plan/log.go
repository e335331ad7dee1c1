package plan

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// LogFormat is a format of files with results that another program writes. They are compared without a
// project. See Log.
type LogFormat struct {
	Name  string // the value of --as
	Title string // "a log of ..."
	// Holds reports whether a file that begins with head looks like one of this format.
	Holds func(head []byte) bool
	// Read reads a file in bounded memory: a log for each contender in it. Its error names the part of the file
	// that is wrong.
	Read func(file *os.File) ([]*Log, error)
}

// LogHead is the size in bytes of the head by which a LogFormat is recognized.
const LogHead = 4096

// Log contains the results of one contender, such as a model, that another program recorded.
type Log struct {
	Name     string            // of the contender; "" if only the file's name tells
	Labels   map[string]string // of the contender
	Metrics  []string          // the names of an attempt's values; the first is the default
	Attempts []LogAttempt
	Notes    []string // data that the log lacks, or that its program counts differently
	// Unjudged means that the file has only answers. Their verdicts can be in another file next to it, which has no
	// contender's name.
	Unjudged bool
}

// LogAttempt is an attempt at a problem.
type LogAttempt struct {
	Problem string
	Repeat  int // from 1 on; files of one contender are numbered on
	// Values are shares, or other scores, by metric. A metric without a finite number is absent.
	Values map[string]float64
	// Class is verdict.Judged if Values counts. Otherwise the attempt has no verdict (NotJudged), or was
	// lost by the submission's fault.
	Class   verdict.Class
	Message string // why the verdict is missing
}

// LogFormats returns the formats of all benchmarks.
func LogFormats(benchmarks []Benchmark) (all []LogFormat) {
	for _, b := range benchmarks {
		all = append(all, b.Logs...)
	}
	return all
}

// FormatOf returns the format that a file looks like, or nil.
func FormatOf(file *os.File, formats []LogFormat) (*LogFormat, error) {
	head := make([]byte, LogHead)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for i := range formats {
		if formats[i].Holds(head[:n]) {
			return &formats[i], nil
		}
	}
	return nil, nil
}

// DefaultName returns the name of a contender that a file does not name.
func DefaultName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}
