package tasks

import (
	"fmt"
	"io/fs"

	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Limits limits a submission before it is read: a sparse file takes a moment to create, and a day to hash
// and store. The zero value means no limits.
type Limits struct {
	Bytes   int64 // of all files together, including holes
	Entries int   // files, links and directories
}

// tooMany returns the error for more than Entries.
func (l Limits) tooMany(root string) error {
	return unfitf(root, "the submission is too large: more than %d files, links and directories (hint: exclude some with ignore of the solution, or raise max_submission_files of the problem)", l.Entries)
}

// check returns an error if the total size of files exceeds Bytes. infos has nil for entries that are not
// files.
func (l Limits) check(found []file, infos []fs.FileInfo, bytes int64) error {
	if l.Bytes == 0 || bytes <= l.Bytes {
		return nil
	}
	largest, count := -1, 0
	for i, info := range infos {
		if info == nil {
			continue
		}
		count++
		if largest < 0 || info.Size() > infos[largest].Size() {
			largest = i
		}
	}
	within := ""
	if count > 1 {
		within = fmt.Sprintf(" in %d files; %s has %s", count, displayPath(found[largest].rel), session.Size(infos[largest].Size()))
	}
	return unfitf(found[largest].abs, "the submission is too large: %s%s; the limit is %s (hint: exclude files with ignore of the solution, or raise max_submission_size of the problem)",
		session.Size(bytes), within, session.Size(l.Bytes))
}
