package buildlog

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// The test binary is also the other processes of TestProcessesShareLog: with this
// variable it hammers on the log of the directory that it names.
const hammerDirectory = "FEVALGRAPH_BUILDLOG_TEST_DIR"

// hammerVariable says for how long TestProcessesShareLog goes on, such as 5m; without it,
// it ends after hammerRounds.
const hammerVariable = "FEVALGRAPH_TEST_HAMMER"

const (
	hammerRounds  = 60
	hammerOwn     = 1000 // addresses of each
	hammerShared  = 7
	hammerMessage = 3000 // bytes, so that the log is compacted several times
)

func TestMain(m *testing.M) {
	dir := os.Getenv(hammerDirectory)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := hammer(dir, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hammer appends to a log that others append to as well. It ends when the file end is
// there, or with end "" after hammerRounds, and leaves the number of its rounds in a file.
func hammer(dir, id, end string) error {
	l, err := Open(filepath.Join(dir, "log"), testKey)
	if err != nil {
		return err
	}
	defer l.Close()
	i := 0
	goesOn := func() bool {
		if end == "" {
			return i < hammerRounds
		}
		_, err := os.Stat(end)
		return i < hammerRounds || err != nil
	}
	for ; goesOn(); i++ {
		own := Entry{Addr: id + "/" + strconv.Itoa(i%hammerOwn), Key: cache.Key{1, byte(i)}, Class: cache.ClassDone, Run: id}
		shared := own
		shared.Addr = "shared/" + strconv.Itoa(i%hammerShared)
		shared.Message = strings.Repeat("m", hammerMessage)
		if err := errors.Join(l.Append(own), l.Append(shared)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "rounds-"+id), []byte(strconv.Itoa(i)), 0o600)
}

func TestProcessesShareLog(t *testing.T) {
	processes, goroutines := 5, 3
	dir, end := t.TempDir(), ""
	if text := os.Getenv(hammerVariable); text != "" {
		long, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		processes, end = 8, filepath.Join(dir, "end")
		time.AfterFunc(long, func() { _ = os.WriteFile(end, nil, 0o600) })
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for p := range processes {
		cmd := exec.CommandContext(t.Context(), exe, "p"+strconv.Itoa(p), end)
		cmd.Env = append(os.Environ(), hammerDirectory+"="+dir)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", p, err, out)
			}
		})
	}
	for g := range goroutines {
		wg.Go(func() {
			if err := hammer(dir, "g"+strconv.Itoa(g), end); err != nil {
				t.Errorf("goroutine %d: %v", g, err)
			}
		})
	}
	wg.Wait()

	path := filepath.Join(dir, "log")
	l := openLog(t, path)
	files, err := filepath.Glob(filepath.Join(dir, "rounds-*"))
	if err != nil || len(files) != processes+goroutines {
		t.Fatalf("%d of %d hammered to the end: %v", len(files), processes+goroutines, err)
	}
	rounds, want := 0, hammerShared
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		rounds += n
		want += min(n, hammerOwn)
	}
	t.Logf("%d processes and %d goroutines had %d rounds", processes, goroutines, rounds)
	if got := len(l.Addrs()); got != want || l.Dropped() != 0 {
		t.Errorf("the log has %d addresses, dropped %d; want %d and 0", got, l.Dropped(), want)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if size := info.Size(); size > int64(rounds)*hammerMessage/2 {
		t.Errorf("the log was never compacted: %d bytes", size)
	}
}
