package workspace

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// Every property that file systems can lack is recognized by its own check.
func TestScratchDirFindSuitable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	for _, test := range []struct {
		name, kind, data string
		flags            uintptr
		lacking          string // "" means that nothing is lacking
	}{
		{"usual", "tmpfs", "size=100m", 0, ""},
		{"without set-user-id bits", "tmpfs", "size=100m", unix.MS_NOSUID | unix.MS_NODEV, ""},
		{"without programs", "tmpfs", "size=100m", unix.MS_NOEXEC, "programs in it cannot be started"},
		{"64 KiB", "tmpfs", "size=64k", 0, "no space is left"},
		{"512 KiB", "tmpfs", "size=512k", 0, "no space is left"},
		{"few inodes", "tmpfs", "size=100m,nr_inodes=40", 0, "no inodes are left"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := unix.Mount("none", dir, test.kind, test.flags, test.data); err != nil {
				t.Skipf("mounting: %v", err)
			}
			defer unix.Unmount(dir, unix.MNT_DETACH)
			s := ScratchDir{Dir: dir}
			real, err := s.FindSuitable()
			if test.lacking == "" {
				if err != nil || real != dir {
					t.Fatalf("%q, %v, want %q", real, err, dir)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
					t.Errorf("files are left: %v, %v", entries, err)
				}
				return
			}
			if tool := (*backend.ToolError)(nil); !errors.As(err, &tool) && !exhaustion.Is(err) || !strings.Contains(err.Error(), test.lacking) || !strings.Contains(err.Error(), "TMPDIR") {
				t.Errorf("error %v, want one with %q and a hint", err, test.lacking)
			}
		})
	}
}
