//go:build unix && !linux

package local

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// tryPortLock takes the lock of a port among processes with the same directory for temporary files, and
// returns nil if another process has it. The file is not removed: it is empty, and after a removal two
// processes could lock different files.
func tryPortLock(port int) (io.Closer, error) {
	l, err := lockedfile.Try(filepath.Join(os.TempDir(), fmt.Sprintf("fevalgraph-port-%d.lock", port)))
	if l == nil || err != nil {
		return nil, err
	}
	return l, nil
}
