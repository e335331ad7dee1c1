package local

import (
	"os"
	"os/exec"
	"testing"
)

// A process begun later has a number that is looked at; one begun before has
// not, unless the numbers can have gone round.
func TestSince(t *testing.T) {
	forks := forksSinceBoot()
	if forks == 0 || lastNumber() == 0 || mostNumbers() == 0 {
		t.Fatalf("forks %d, last number %d, %d numbers", forks, lastNumber(), mostNumbers())
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	begun := since{pid: cmd.Process.Pid, forks: forks}
	if first, last, ok := begun.span(); ok && (cmd.Process.Pid < first || cmd.Process.Pid > last || os.Getppid() == first) {
		t.Errorf("from %d to %d, the process is %d", first, last, cmd.Process.Pid)
	}
	for name, s := range map[string]since{
		"unknown":                     {},
		"forks unknown":               {pid: cmd.Process.Pid},
		"too many forks":              {pid: cmd.Process.Pid, forks: 1},
		"boot counted again":          {pid: cmd.Process.Pid, forks: 1 << 62},
		"the numbers have gone round": {pid: lastNumber() + 1<<20, forks: forks},
	} {
		if name == "too many forks" && forksSinceBoot() < uint64(mostNumbers())/2 {
			continue
		}
		if first, last, ok := s.span(); ok {
			t.Errorf("%s: from %d to %d, want every process", name, first, last)
		}
	}
}
