package plan

import (
	"os"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// LogFormat is a form in which another program writes results to a file, which are compared
// without a project. See Log.
type LogFormat struct {
	Name  string // the value of --as
	Title string // "a log of ..."
	// Holds reports whether a file that begins with head looks like one of this format.
	Holds func(head []byte) bool
	// Read reads a file in bounded memory: a log for each contender that it has. An error says which part of it is
	// wrong.
	Read func(file *os.File) ([]*Log, error)
}

// LogHead is how many bytes of a file a LogFormat is recognized by, at most.
const LogHead = 4096

// Log is what another program recorded of one contender, such as a model.
type Log struct {
	Name     string            // of the contender; "" if only the file's name tells
	Labels   map[string]string // of the contender
	Metrics  []string          // that attempts have values of; the first is what counts unless another is asked for
	Attempts []LogAttempt
	Notes    []string // what the log lacks, or what its program counts otherwise
}

// LogAttempt is an attempt at a problem.
type LogAttempt struct {
	Problem string
	Repeat  int // from 1 on; files of one contender are numbered on
	// Values are shares, or other scores, by metric. A metric without a finite number is absent.
	Values map[string]float64
	// Class is verdict.Judged if Values counts. Otherwise the attempt has no verdict (NotJudged), or is lost by the submission's doing.
	Class   verdict.Class
	Message string // why there is no verdict
}
