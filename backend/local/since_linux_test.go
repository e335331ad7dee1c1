package local

import (
	"os"
	"os/exec"
	"testing"
)

// A process begun later has a number that is looked at; one begun before has
// not, unless the numbers may have gone round.
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
	if first := begun.first(); first != 0 && first != cmd.Process.Pid {
		t.Errorf("first is %d, the process is %d", first, cmd.Process.Pid)
	}
	for name, s := range map[string]since{
		"unknown":                     {},
		"forks unknown":               {pid: cmd.Process.Pid},
		"too many forks":              {pid: cmd.Process.Pid, forks: 1},
		"boot counted anew":           {pid: cmd.Process.Pid, forks: 1 << 62},
		"the numbers have gone round": {pid: lastNumber() + 1<<20, forks: forks},
	} {
		if name == "too many forks" && forksSinceBoot() < uint64(mostNumbers())/2 {
			continue
		}
		if first := s.first(); first != 0 {
			t.Errorf("%s: %d, want every process", name, first)
		}
	}
	if (since{pid: os.Getpid(), forks: forks}).first() > cmd.Process.Pid {
		t.Error("a process begun later would be left out")
	}
}
