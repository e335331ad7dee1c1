package cache

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

// The test binary also runs as the other processes of these tests.
const roleVariable = "FEVALGRAPH_CACHE_TEST_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(ramdir.Run(m))
	case "hammer":
		err = hammer(os.Args[1], os.Args[2], os.Args[3])
	case "hold":
		err = hold(os.Args[1])
	case "gc":
		err = collectStore(os.Args[1], os.Args[2])
	case "verify":
		err = verifyStore(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func childProcess(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

// hammerVariable sets the duration of TestProcessesShareStore, such as 5m; without it, it ends after hammerRounds.
const hammerVariable = "FEVALGRAPH_TEST_HAMMER"

const (
	hammerRounds = 60
	hammerShared = 7
)

// hammer uses a store like a run, while other processes do the same. It ends when the file "end" exists, or with end ""
// after hammerRounds, and writes the number of its rounds to a file.
func hammer(dir, id, end string) error {
	ctx := context.Background()
	d, err := OpenDisk(filepath.Join(dir, "store"), Options{})
	if err != nil {
		return err
	}
	i := 0
	goesOn := func() bool {
		if end == "" {
			return i < hammerRounds
		}
		_, err := os.Stat(end)
		return i < hammerRounds || err != nil
	}
	for ; goesOn(); i++ {
		size := i % hammerRounds
		content := bytes.Repeat([]byte{byte(size)}, 100*size)
		g, err := PutBytes(ctx, d, content)
		if err != nil {
			return err
		}
		if b, err := ReadBlob(ctx, d, g, -1); err != nil || !bytes.Equal(b, content) {
			return fmt.Errorf("round %d: read %d bytes: %w", i, len(b), err)
		}
		k := Key{1, byte(i % hammerShared)}
		if err := exclusively(ctx, d, k, filepath.Join(dir, "owner-"+k.String())); err != nil {
			return err
		}
		rec := &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}, Run: id}
		if err := d.PutRecord(ctx, k, rec); err != nil {
			return err
		}
		if r, err := d.Record(ctx, k); err != nil || r == nil {
			return fmt.Errorf("round %d: record %v: %w", i, r, err)
		}
		if err := forsake(ctx, d, fmt.Sprintf("of %s in round %d", id, i)); err != nil {
			return err
		}
		if i%10 == 0 {
			if _, err := d.GC(ctx, GCOptions{MaxBytes: 0}); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, "rounds-"+id), []byte(strconv.Itoa(i)), 0o600)
}

// forsake puts a blob that was last used a day ago, and reads it: gc can remove it at any time, but a read returns all
// of it.
func forsake(ctx context.Context, d *Disk, text string) error {
	g, err := PutBytes(ctx, d, []byte(text))
	if err != nil {
		return err
	}
	old := time.Now().Add(-24 * time.Hour)
	forget := func() error {
		err := os.Chtimes(d.blobPath(g), time.Time{}, old)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := forget(); err != nil {
		return err
	}
	b, err := ReadBlob(ctx, d, g, -1)
	var missing *MissingError
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil || string(b) != text {
		return fmt.Errorf("%q was read as %q: %w", text, b, err)
	}
	return forget() // and no process uses it again
}

// exclusively fails if two get into it at once for one key.
func exclusively(ctx context.Context, d *Disk, k Key, owner string) error {
	for {
		release, ok, err := d.Lock(ctx, k)
		if err != nil {
			return err
		}
		if !ok {
			time.Sleep(time.Millisecond)
			continue
		}
		defer release()
		f, err := os.OpenFile(owner, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("two hold one lock: %w", err)
		}
		f.Close()
		return os.Remove(owner)
	}
}

func TestProcessesShareStore(t *testing.T) {
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
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			out, err := childProcess(t, "hammer", dir, "p"+strconv.Itoa(p), end).CombinedOutput()
			if err != nil {
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

	t.Logf("%d processes and %d goroutines had %d rounds", processes, goroutines, hammered(t, dir))
	d, err := OpenDisk(filepath.Join(dir, "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.GC(t.Context(), GCOptions{MaxBytes: 0}); err != nil { // of blobs forsaken since the last one
		t.Fatal(err)
	}
	report, err := d.Verify(t.Context(), false, nil)
	if err != nil || report.Blobs != hammerRounds || report.Records != hammerShared || len(report.Corrupt)+len(report.Dangling) != 0 {
		t.Errorf("the store: %+v, %v", report, err)
	}
	for _, sub := range []string{tmpDir, locksDir} {
		left := listing(t, d.path(sub))
		delete(left, storeLock)
		delete(left, lockedfile.KeysFile)
		if len(left) != 0 {
			t.Errorf("left in %s: %d files", sub, len(left))
		}
	}
}

// hammered adds up the rounds of all who hammered.
func hammered(t *testing.T, dir string) (rounds int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "rounds-*"))
	if err != nil {
		t.Fatal(err)
	}
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
	}
	return rounds
}

// hold locks a key, reports it, and keeps it until it is killed.
func hold(dir string) error {
	d, err := OpenDisk(dir, Options{})
	if err != nil {
		return err
	}
	release, ok, err := d.Lock(context.Background(), Key{1})
	if err != nil || !ok {
		return fmt.Errorf("no lock: %w", err)
	}
	defer release()
	fmt.Println("locked")
	time.Sleep(time.Minute)
	return errors.New("no signal came")
}

func TestLockOfKilledProcess(t *testing.T) {
	d := openDisk(t)
	cmd := childProcess(t, "hold", d.Dir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatal(line, err)
	}
	if _, ok, err := d.Lock(t.Context(), Key{1}); ok || err != nil {
		t.Errorf("Lock of what another process holds = %v, %v", ok, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as it should be
	release, ok, err := d.Lock(t.Context(), Key{1})
	if !ok || err != nil {
		t.Fatalf("Lock after its holder was killed = %v, %v", ok, err)
	}
	release()
	if _, err := os.Stat(d.path(locksDir, Key{1}.String())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file is left: %v", err)
	}
}

type locker interface {
	Lock(ctx context.Context, k Key) (release func(), ok bool, err error)
}

func TestLock(t *testing.T) {
	for name, l := range map[string]locker{"disk": openDisk(t), "memory": NewMemory()} {
		t.Run(name, func(t *testing.T) {
			release, ok, err := l.Lock(t.Context(), Key{1})
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			if _, ok, err := l.Lock(t.Context(), Key{1}); ok || err != nil {
				t.Errorf("second Lock = %v, %v", ok, err)
			}
			other, ok, err := l.Lock(t.Context(), Key{2})
			if !ok || err != nil {
				t.Errorf("Lock of another key = %v, %v", ok, err)
			}
			other()
			release()
			again, ok, err := l.Lock(t.Context(), Key{1})
			if !ok || err != nil {
				t.Fatalf("Lock after release = %v, %v", ok, err)
			}
			release() // a second time: must not let go of the new holder's
			if _, ok, _ := l.Lock(t.Context(), Key{1}); ok {
				t.Error("an old release let go of a new lock")
			}
			again()
		})
	}
}

func TestLockExcludesGoroutines(t *testing.T) {
	d := openDisk(t)
	var inside, entered atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for done := 0; done < 200; {
				release, ok, err := d.Lock(t.Context(), Key{1})
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two hold one lock")
				}
				runtime.Gosched() // let others open the file before its removal
				done++
				entered.Add(1)
				inside.Add(-1)
				release()
			}
		})
	}
	wg.Wait()
	if entered.Load() != 8*200 {
		t.Errorf("entered %d times", entered.Load())
	}
}

// collectStore and verifyStore are the processes.
func collectStore(dir, bytes string) error {
	room, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil {
		return err
	}
	d, err := OpenDisk(dir, Options{})
	if err != nil {
		return err
	}
	r, err := d.GC(context.Background(), GCOptions{MaxBytes: room})
	if err == nil && (r.Blobs == 0 || r.Records == 0 || r.Unreadable > 0) {
		err = fmt.Errorf("gc: %+v", r)
	}
	fmt.Printf("%+v", r)
	return err
}

func verifyStore(dir string) error {
	d, err := OpenDisk(dir, Options{})
	if err != nil {
		return err
	}
	r, err := d.Verify(context.Background(), false, nil)
	if err == nil && len(r.Corrupt)+len(r.Dangling) > 0 {
		err = fmt.Errorf("verify: %d corrupt, %d dangling", len(r.Corrupt), len(r.Dangling))
	}
	fmt.Printf("%d blobs and %d records", r.Blobs, r.Records)
	return err
}
