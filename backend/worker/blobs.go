package worker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/cache"
)

// missing returns the digests that the store lacks.
func (s *Server) missing(ctx context.Context, asked []cache.Digest) ([]cache.Digest, error) {
	lacks := []cache.Digest{}
	for _, d := range asked {
		switch has, err := s.host.Store.Has(ctx, d); {
		case err != nil:
			return nil, err
		case !has:
			lacks = append(lacks, d)
		}
	}
	return lacks, nil
}

// receive stores the blobs of a body. Each is a line with the digest, followed by the
// content.
func (s *Server) receive(r *http.Request) error {
	body := bufio.NewReaderSize(r.Body, 64<<10)
	for {
		line, err := body.ReadString('\n')
		if err == io.EOF && line == "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("receiving a blob: %w", err)
		}
		want, err := cache.ParseDigest(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return fmt.Errorf("receiving a blob: %w", err)
		}
		got, err := s.host.Store.Put(r.Context(), io.LimitReader(body, want.Size))
		if err != nil {
			return fmt.Errorf("receiving blob %s: %w", want, err)
		}
		if got != want {
			return fmt.Errorf("blob %s arrived as %s: %w", want, got, &cache.MissingError{Digest: want}) // the client sends it again
		}
	}
}

// send answers with one blob.
func (s *Server) send(w http.ResponseWriter, r *http.Request, digest string) error {
	d, err := cache.ParseDigest(digest)
	if err != nil {
		return err
	}
	blob, err := s.host.Store.Open(r.Context(), d)
	if err != nil {
		return err
	}
	defer blob.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := io.Copy(w, blob); err != nil {
		panic(http.ErrAbortHandler) // the client must not mistake it for the end
	}
	return nil
}

// Maximum size of a blob that is included in the answer of a run, and of all of them
// together.
const (
	inlineBlob = 256 << 10
	inlineAll  = 8 << 20
)

// run runs programs in the sandbox.
func (s *Server) run(ctx context.Context, programs []backend.Program) (a runAnswer, err error) {
	if s.host.Sandbox == nil {
		return a, facts.ErrNoSandbox
	}
	if a.Endings, err = s.host.Sandbox.Run(ctx, programs...); err != nil {
		return a, err
	}
	var room int64 = inlineAll
	for d := range outputs(a.Endings) {
		if d.Size > min(inlineBlob, room) {
			continue
		}
		room -= d.Size
		blob, err := cache.ReadBlob(ctx, s.host.Store, d, inlineBlob)
		if err != nil {
			return a, err
		}
		a.Blobs = append(a.Blobs, blob)
	}
	return a, nil
}

// outputs returns the blobs of the programs' outputs.
func outputs(endings []backend.Ending) map[cache.Digest]bool {
	all := map[cache.Digest]bool{}
	for _, e := range endings {
		if !e.Stdout.IsZero() {
			all[e.Stdout] = true
		}
		for _, k := range e.Kept {
			all[k.Digest] = true
		}
	}
	return all
}
