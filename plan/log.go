package plan

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// LogFormat is a format of result files of another program, which can be compared without a project. See
// Log.
type LogFormat struct {
	Name  string // the value of --as
	Title string // "a log of ..."
	// Holds reports whether a file that begins with head seems to have this format.
	Holds func(head []byte) bool
	// Read reads a log for each contender in a file, in bounded memory. An error names the invalid part of the
	// file.
	Read func(file *os.File) ([]*Log, error)
	// Unfinished reports whether the file at a path, which begins with head, is of an attempt without a result. Nil means
	// that no file is.
	Unfinished func(path string, head []byte) bool
}

// LogHead is the size in bytes of the head by which a LogFormat is recognized.
const LogHead = 4096

// Log contains the results of one contender, such as a model, that another program recorded.
type Log struct {
	Name     string            // of the contender; "" if the file does not contain it
	Labels   map[string]string // of the contender
	Metrics  []string          // the names of an attempt's values; the first is the default
	Attempts []LogAttempt
	Notes    []string // remarks about missing data, or data that its program counts differently
	// Higher reports whether higher values are better, for each metric whose direction the program records.
	Higher map[string]bool
	// Unjudged means that the file has only answers. Their verdicts can be in another file next to it, without
	// a contender's name.
	Unjudged bool
}

// LogAttempt is an attempt at a problem.
type LogAttempt struct {
	Problem string
	Cluster string // of problems that resemble each other, such as the repository or the task; "" if unknown
	Repeat  int    // from 1 on; continues across files of one contender
	// Values are shares, or other scores, by metric. It omits metrics without a finite number.
	Values map[string]float64
	// Class applies to metrics without a value: verdict.Judged and NotJudged mean that no verdict exists, an error or
	// a timeout that the submission lost the attempt.
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

// FormatOf returns the format that a file looks like, or nil. It reports whether the file is of an attempt without a
// result in one of the formats.
func FormatOf(file *os.File, formats []LogFormat) (format *LogFormat, unfinished bool, err error) {
	head := make([]byte, LogHead)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	for i := range formats {
		if f := &formats[i]; f.Holds(head[:n]) {
			return f, false, nil
		} else if f.Unfinished != nil && f.Unfinished(file.Name(), head[:n]) {
			return nil, true, nil
		}
	}
	return nil, false, nil
}

// DefaultName returns the name of a contender whose name is not in its file.
func DefaultName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}
