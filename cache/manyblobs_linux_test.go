package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// blobsVariable sets the number of blobs of TestManyBlobs.
const blobsVariable = "FEVALGRAPH_TEST_BLOBS"

// beside is the number of blobs that are put repeatedly during a collection.
const beside = 1000

// manyBlobs are few enough for every run of the tests.
const manyBlobs = 1000

// TestManyBlobs runs gc to half of a store's content, and verify, in separate processes while another process
// puts and reads. With FEVALGRAPH_TEST_BLOBS it prints their cost, and limits their memory.
func TestManyBlobs(t *testing.T) {
	n := manyBlobs
	if text := os.Getenv(blobsVariable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	d, err := OpenDisk(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	total := fillStore(t, d, n)
	t.Logf("%d blobs, %d bytes with records, made in %v", n, total, time.Since(began).Round(time.Second))

	ctx, stop := context.WithCancel(t.Context())
	var user sync.WaitGroup
	var longest time.Duration
	var rounds int
	user.Go(func() {
		for ; ctx.Err() == nil || rounds == 0; rounds++ {
			content := []byte(fmt.Sprint("put beside, ", rounds%beside))
			began := time.Now()
			g, err := PutBytes(context.Background(), d, content)
			longest = max(longest, time.Since(began))
			if err == nil {
				_, err = ReadBlob(context.Background(), d, g, -1)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	run := func(role string, args ...string) {
		t.Helper()
		began := time.Now()
		cmd := childProcess(t, role, args...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", role, err, out)
		}
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024 // of Linux, in KiB
		t.Logf("%s: %v, %v of the processors, peak %d MiB; %s", role, time.Since(began).Round(100*time.Millisecond),
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(100*time.Millisecond), peak, out)
		const most = 160 // MiB
		if n > manyBlobs && peak > most {
			t.Errorf("%s took %d MiB of memory; want at most %d", role, peak, most)
		}
	}
	run("verify", dir)
	run("gc", dir, strconv.FormatInt(total/2, 10))
	run("verify", dir)
	stop()
	user.Wait()
	t.Logf("meanwhile, %d blobs were put and read; the longest put took %v", rounds, longest.Round(time.Millisecond))
	s, err := d.Stats(t.Context())
	if err != nil || s.BlobBytes+s.RecordBytes > total/2+beside*100 || s.Blobs < int64(n/4) {
		t.Errorf("left are %+v, %v", s, err)
	}
}

// fillStore creates n old blobs: four in five are outputs of records, and one in ten is a directory. It returns their
// total size, including records.
func fillStore(t *testing.T, d *Disk, n int) int64 {
	t.Helper()
	var total atomic.Int64
	now := time.Now()
	write := func(path string, b []byte, i int) {
		old := now.Add(-48*time.Hour - time.Duration(i)*time.Second)
		err := os.WriteFile(path, b, 0o444)
		if os.IsNotExist(err) {
			if err = d.files.MkdirAll(path[:len(path)-65]); err == nil {
				err = os.WriteFile(path, b, 0o444)
			}
		}
		if err == nil {
			err = os.Chtimes(path, old, old)
		}
		if err != nil {
			t.Error(err)
		}
		total.Add(int64(len(b)))
	}
	const group = 10 // 5 outputs, 2 files of a directory, that directory, and 2 unreferenced blobs
	make10 := func(at int) {
		r := &Record{Class: ClassDone, Run: "run", Message: "m"}
		var entries []Entry
		for i := range group - 1 {
			b := binary.LittleEndian.AppendUint64(make([]byte, 0, 300), uint64(at+i))
			b = b[:100+(at+i)%200]
			g := SumBytes(b)
			write(d.blobPath(g), b, at)
			switch {
			case i < 5:
				r.Outputs = append(r.Outputs, Output{Name: fmt.Sprint("o", i), Digest: g})
			case i < 7:
				entries = append(entries, Entry{Path: fmt.Sprint("f", i), Digest: g})
			}
		}
		tree, err := BuildTree(entries)
		if err != nil {
			t.Error(err)
			return
		}
		write(d.blobPath(tree.Root), tree.Blobs[tree.Root], at)
		r.Outputs = append(r.Outputs, Output{Name: "tree", Digest: tree.Root, Tree: true})
		k := Key(SumBytes(fmt.Append(nil, "key ", at)).Hash)
		b, err := EncodeRecord(nil, k, r)
		if err != nil {
			t.Error(err)
			return
		}
		write(d.recordPath(k), b, at)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !t.Failed() {
				at := int(next.Add(group)) - group
				if at >= n {
					return
				}
				make10(at)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return total.Load()
}
