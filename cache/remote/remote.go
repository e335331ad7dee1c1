// Package remote reads and writes records and blobs of a cache on another machine, which can be slow,
// full, down or malicious. Any failure counts as a miss, costs a few seconds and is reported once
// (Options.Warn). The package knows neither nodes nor configurations, and stores nothing itself: it is the
// lowest layer of a cache.Layered.
//
// An entry of the cache is an ActionResult whose output files are the blobs of the record, and whose
// auxiliary metadata is a signed envelope with the record. A record is served if a trusted key signed it
// and the server has its blobs, which are queried in batches. Blobs are fetched on demand: inputs before a
// node runs, results before they are collected. A blob that cannot be fetched is missing for the rest of
// the run.
//
// Records that are stored are uploaded in the background, blobs first. A budget limits the time that a run
// waits for the cache beyond what the cache saves; when it is spent, the run stops using the cache.
package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"golang.org/x/sync/singleflight"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Options configures a cache.
type Options struct {
	Namespace string   // of written records; read first
	Others    []string // other namespaces to read, in order
	Trust     []PublicKey
	Signer    *PrivateKey // signs written records, and is trusted; nil writes nothing
	Read      bool
	Write     bool
	// Local contains the records and blobs to send.
	Local cache.Store
	// Kept stores fetched blobs: Local or, if that must not be changed, another store.
	Kept cache.Store
	Jobs int // concurrent nodes, at least 1
	// Limit limits the net time that the cache costs a run: two thirds for reads, one third for finishing
	// writes.
	Limit time.Duration
	// Together is the maximum number of blobs in a query.
	Together int
	// Warn is called once with the reason when the run stops using the cache, or half of it.
	Warn func(error)
}

// promptAnswer is the maximum time of an answer whose savings count: with a slower cache, it is uncertain
// whether the blobs will arrive, too.
const promptAnswer = time.Second

// Store is a cache on another machine. It is safe for concurrent use.
type Store struct {
	o         Options
	transport Transport
	trusted   *dsse.EnvelopeVerifier // nil trusts no key
	// preserved verifies entries that must not be replaced: those signed by keys in Trust, unless these
	// include Signer. Other clients with the same Trust would not trust Signer.
	preserved *dsse.EnvelopeVerifier
	reads     *side
	writes    *side
	warned    sync.Once
	finder    *finder
	reading   singleflight.Group // by digest
	uploads   uploads

	sender *cache.Sender // remembers the blobs that the server has or recently had

	mu        sync.Mutex
	lostBlobs map[cache.Digest]bool // blobs that it did not return, regardless of its reports
	absent    map[cache.Key]bool    // keys without a usable record
}

var (
	_ cache.Lower   = (*Store)(nil)
	_ cache.Fetcher = (*Store)(nil)
)

// Open returns a cache that uses a transport, and closes it at the end. It contacts no server yet.
func Open(t Transport, o Options) *Store {
	s := &Store{o: o, transport: t, lostBlobs: map[cache.Digest]bool{}, absent: map[cache.Key]bool{}}
	s.sender = cache.NewSender(server{s}, o.Together)
	var keys []dsse.Verifier
	for _, k := range o.Trust {
		keys = append(keys, k)
	}
	if o.Signer != nil && !slices.ContainsFunc(o.Trust, func(k PublicKey) bool { return k.key.Equal(o.Signer.PublicKey.key) }) {
		s.preserved, _ = dsse.NewEnvelopeVerifier(keys...)
		keys = append(keys, o.Signer.PublicKey)
	}
	s.trusted, _ = dsse.NewEnvelopeVerifier(keys...)     // none without keys
	s.writes = newSide(o.Limit/3, ofRun, func(error) {}) // Flush reports it
	s.reads = newSide(o.Limit*2/3, ofRun, func(err error) {
		s.warn(fmt.Errorf("not used any more: %w", err))
		if !errors.Is(err, errSlow) { // no node waits for it, so it can be slow
			s.writes.end(err)
		}
	})
	s.finder = newFinder(s.askMissing, o.Together)
	if s.Writes() {
		s.startUploads()
	}
	return s
}

// Insist makes later calls wait until the server answers, whatever that costs, unless it fails for minutes: for commands
// that only send or fetch. waits is called with the reason when a call is repeated. No other call may be in progress.
func (s *Store) Insist(waits func(error)) {
	p := ofTransfer
	p.retries.Note = waits
	s.writes = newSide(retry.Forever, p, func(error) {}) // Flush reports it
	s.reads = newSide(retry.Forever, p, s.warn)
	s.warned = sync.Once{}
}

func (s *Store) warn(err error) { s.warned.Do(func() { s.o.Warn(err) }) }

// Close ends all use of the cache.
func (s *Store) Close() error {
	s.warned.Do(func() {}) // all later failures are caused by this
	s.reads.end(context.Canceled)
	s.writes.end(context.Canceled)
	s.endUploads()
	return s.transport.Close()
}

func (s *Store) readable() bool { return s.o.Read && s.reads.open() }

// wait makes a call for which a node waits.
func (s *Store) wait(ctx context.Context, call func(ctx context.Context, progress func(int64)) error) error {
	s.reads.wait()
	defer s.reads.leave()
	return s.reads.try(ctx, call)
}

// askMissing queries the server for the finder.
func (s *Store) askMissing(blobs []cache.Digest) (missing []cache.Digest, err error) {
	err = s.wait(context.Background(), func(ctx context.Context, _ func(int64)) (err error) {
		missing, err = s.transport.Missing(ctx, blobs)
		return err
	})
	return missing, err
}

// Record implements cache.Lower. It returns nil for a record with a missing blob.
func (s *Store) Record(ctx context.Context, k cache.Key) (*cache.Record, error) {
	if !s.readable() || s.knownAbsent(k) {
		return nil, nil
	}
	type answer struct {
		record *cache.Record
		err    error
	}
	began := time.Now()
	answers := make([]answer, 1+len(s.o.Others))
	var group sync.WaitGroup
	for i, namespace := range append([]string{s.o.Namespace}, s.o.Others...) {
		group.Go(func() { answers[i].record, answers[i].err = s.record(ctx, namespace, k) })
	}
	group.Wait()
	var foreign *cache.ForeignError
	for _, a := range answers {
		if a.record != nil {
			if time.Since(began) < promptAnswer {
				s.reads.pay(time.Duration(a.record.Seconds * float64(time.Second) / float64(max(1, s.o.Jobs))))
			}
			return a.record, nil
		}
		errors.As(a.err, &foreign)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.absent[k] = true
	if foreign != nil {
		return nil, foreign
	}
	return nil, nil
}

// record reads the record of one namespace.
func (s *Store) record(ctx context.Context, namespace string, k cache.Key) (*cache.Record, error) {
	var e *execution.ActionResult
	err := s.wait(ctx, func(ctx context.Context, _ func(int64)) (err error) {
		e, err = s.transport.Entry(ctx, entryID(namespace, k))
		return err
	})
	if err != nil || e == nil {
		return nil, err
	}
	r, blobs, err := decodeEntry(s.trusted, namespace, k, e)
	if err != nil {
		return nil, err
	}
	if missing, err := s.missing(ctx, blobs); missing || err != nil {
		return nil, err
	}
	return r, nil
}

// missing reports whether the server lacks any of the blobs.
func (s *Store) missing(ctx context.Context, blobs []cache.Digest) (bool, error) {
	var ask []cache.Digest
	s.mu.Lock()
	gone := false
	for _, d := range blobs {
		gone = gone || s.lostBlobs[d]
		if d.Size > 0 && !s.sender.Knows(cache.Output{Digest: d}) { // servers implicitly have the empty blob
			ask = append(ask, d)
		}
	}
	s.mu.Unlock()
	if gone {
		return true, nil
	}
	missing, err := s.finder.missing(ctx, ask)
	if err == nil && !missing {
		s.found(ask)
	}
	return missing, err
}

func (s *Store) found(blobs []cache.Digest) {
	for _, d := range blobs {
		s.sender.Has(cache.Output{Digest: d})
	}
}

func (s *Store) knownAbsent(k cache.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.absent[k]
}

// Has implements cache.Lower. It returns false if the cache fails.
func (s *Store) Has(ctx context.Context, d cache.Digest) (bool, error) {
	if !s.readable() {
		return false, nil
	}
	missing, err := s.missing(ctx, []cache.Digest{d})
	return err == nil && !missing, context.Cause(ctx)
}

// Writes reports whether records are sent.
func (s *Store) Writes() bool { return s.o.Write && s.o.Signer != nil }

// Unsigned returns how many records were not sent for lack of a key. No client would trust them, and they
// would replace trusted records.
func (s *Store) Unsigned() int { return int(s.uploads.unsigned.Load()) }

// TrustsNone reports whether no record can be trusted, because there are no keys.
func (s *Store) TrustsNone() bool { return s.o.Read && s.trusted == nil }

// lostError returns the error for a blob that the cache does not return.
func lostError(d cache.Digest, err error) error {
	return fmt.Errorf("%w: %w", &cache.MissingError{Digest: d}, err)
}
