//go:build unix && !linux

package local

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// tryPortLock takes the lock of a port among processes with the same directory
// for temporary files; nil when another has it. The file stays: it is empty,
// and removing it would take care not to part those who wait for it.
func tryPortLock(port int) (io.Closer, error) {
	l, err := lockedfile.Try(filepath.Join(os.TempDir(), fmt.Sprintf("fevalgraph-port-%d.lock", port)))
	if l == nil || err != nil {
		return nil, err
	}
	return l, nil
}
