package reapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// tree stores a tree of n files of 100 bytes, in directories of 100 files, which differ from those of trees with
// another salt.
func tree(t *testing.T, store cache.Store, n int, salt string) cache.Output {
	t.Helper()
	var entries []cache.Entry
	for i := range n {
		d, err := cache.PutBytes(context.Background(), store, fmt.Appendf(nil, "%099d%s", i, salt))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, cache.Entry{Path: fmt.Sprintf("%02d/%02d", i/100, i%100), Digest: d})
	}
	built, err := cache.BuildTree(entries)
	if err == nil {
		err = built.Store(context.Background(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cache.Output{Name: "tree", Digest: built.Root, Tree: true}
}

// TestUploadsTogether: a tree of 5,000 files takes few calls, is sent once for many concurrent requests, and is not
// sent again for later ones.
func TestUploadsTogether(t *testing.T) {
	s := remotetest.Start(t)
	u := reapi.NewSender(open(t, s.GRPC, ""))
	store := cache.NewMemory()
	large := tree(t, store, 5000, "")
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if err := u.Outputs(context.Background(), store, large); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if _, blobs := s.Holds(); blobs != 5051 {
		t.Errorf("the server has %d blobs", blobs)
	}
	if asked, sent := s.Calls("FindMissingBlobs"), s.Calls("BatchUpdateBlobs"); asked != 1 || sent != 1 {
		t.Errorf("%d questions, %d messages", asked, sent)
	}

	s.Forget()
	if err := u.Outputs(context.Background(), store, large); err != nil || s.Calls("") != 0 {
		t.Errorf("again: %d calls, %v", s.Calls(""), err)
	}
	// If much of a tree is stored already, the rest is sent.
	other := tree(t, store, 5001, "")
	if err := u.Outputs(context.Background(), store, other); err != nil || s.Calls("") != 2 {
		t.Errorf("one more file: %d calls, %v", s.Calls(""), err)
	}
	if _, blobs := s.Holds(); blobs != 5054 {
		t.Errorf("the server has %d blobs", blobs)
	}
	// Another client queries, and sends nothing.
	s.Forget()
	if err := reapi.NewSender(open(t, s.GRPC, "")).Outputs(context.Background(), store, large); err != nil || s.Calls("FindMissingBlobs") != 1 || s.Calls("BatchUpdateBlobs") != 0 {
		t.Errorf("another client: %d calls, %v", s.Calls(""), err)
	}
}

// TestUploadsAgain: blobs that a server reports as lost are sent again, once.
func TestUploadsAgain(t *testing.T) {
	s := remotetest.Start(t)
	u := reapi.NewSender(open(t, s.GRPC, ""))
	store := cache.NewMemory()
	o := tree(t, store, 10, "")
	upload := func() {
		t.Helper()
		if err := u.Outputs(context.Background(), store, o); err != nil {
			t.Fatal(err)
		}
	}
	epoch := u.Epoch()
	upload()
	s.Evict()
	upload()
	if _, blobs := s.Holds(); blobs != 0 {
		t.Fatalf("%d blobs were sent that were believed to be there", blobs)
	}
	u.Forget(epoch)
	upload()
	if _, blobs := s.Holds(); blobs != 12 {
		t.Errorf("the server has %d blobs", blobs)
	}
	s.Forget()
	u.Forget(epoch) // another action that missed them
	if upload(); s.Calls("") != 0 {
		t.Errorf("%d calls", s.Calls(""))
	}
}

// TestUploadFaults: each caller learns what is wrong with its own blobs.
func TestUploadFaults(t *testing.T) {
	ctx := context.Background()
	s := remotetest.Start(t)
	u := reapi.NewSender(open(t, s.GRPC, ""))
	store := cache.NewMemory()

	here, _ := cache.PutBytes(ctx, store, []byte("here"))
	gone := cache.SumBytes([]byte("gone"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := u.Blobs(ctx, store, here); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			var missing *cache.MissingError
			if err := u.Blobs(ctx, store, gone); !errors.As(err, &missing) || missing.Digest != gone {
				t.Error(err)
			}
		})
	}
	group.Wait()

	// A tree without directories is already stored, or cannot be sent.
	below := cache.Output{Digest: cache.SumBytes([]byte("no directory")), Tree: true}
	var missing *cache.MissingError
	if err := u.Outputs(ctx, store, below); !errors.As(err, &missing) {
		t.Error(err)
	}
	u.Has(below)
	if err := u.Outputs(ctx, store, below); err != nil {
		t.Error(err)
	}

	var away *reapi.AwayError
	other, _ := cache.PutBytes(ctx, store, []byte("other"))
	s.Fail(remotetest.Faults{Down: true})
	if err := u.Blobs(ctx, store, other); !errors.As(err, &away) {
		t.Error(err)
	}
	s.Fail(remotetest.Faults{ReadOnly: true})
	var refused *reapi.RefusedError
	if err := u.Blobs(ctx, store, other); !errors.As(err, &refused) || !refused.Rights {
		t.Error(err)
	}
	s.Fail(remotetest.Faults{Hang: true})
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := u.Blobs(canceled, store, other); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFileLikeDirectory: a submission can contain a file with the bytes of a Directory.
func TestFileLikeDirectory(t *testing.T) {
	ctx := context.Background()
	s := remotetest.Start(t)
	u := reapi.NewSender(open(t, s.GRPC, ""))
	store := cache.NewMemory()
	inner := tree(t, store, 3, "")
	content, err := cache.ReadBlob(ctx, store, inner.Digest, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.Put(ctx, bytes.NewReader(content))
	if err != nil || file != inner.Digest {
		t.Fatal(file, err)
	}
	if err := u.Outputs(ctx, store, cache.Output{Digest: file}, inner); err != nil {
		t.Fatal(err)
	}
	if _, blobs := s.Holds(); blobs != 5 { // the root, 00, and three files
		t.Errorf("the server has %d blobs", blobs)
	}
}
