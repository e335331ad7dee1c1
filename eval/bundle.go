package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/provenance"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// BundleRequest configures a bundle.
type BundleRequest struct {
	Run      string   // an id, part of an id, or "latest"
	File     string   // output path
	Withhold []string // of provenance.Withheld
}

// Bundled describes the contents of a written bundle.
type Bundled struct {
	Run             string
	Nodes, Verdicts int
	Bytes           int64 // size of manifests and blobs, uncompressed
	Signer          string
}

// Bundle exports the evidence for the verdicts of a recorded run as a file, signed with the key in
// FEVALGRAPH_SIGNING_KEY.
func Bundle(ctx context.Context, o Options, r BundleRequest) (*Bundled, error) {
	signer, err := user.SigningKey(o.Getenv)
	if err != nil {
		return nil, err
	}
	if signer == nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("a bundle is signed, and %s is not set; `fevalgraph keygen` makes a key", user.SigningKeyVariable))
	}
	run, err := event.FindRun(o.Records(), r.Run)
	if err != nil {
		return nil, exit.Past(err)
	}
	results, err := history.Results(o.Records(), run.ID)
	if err != nil {
		return nil, exit.Past(err)
	}
	nodes, err := answersOf(o.Records(), run)
	if err != nil {
		return nil, exit.Past(err)
	}
	store, end, err := stores.Past(&o)
	if err != nil {
		return nil, err
	}
	defer end()
	about := provenance.About{Run: run.ID, Withheld: r.Withhold}
	if start, ok := run.Start(); ok {
		about.Version = start.Version
	}
	entries, err := provenance.Collect(ctx, store, nodes, results)
	if err != nil {
		return nil, goneHint(err)
	}
	b := &Bundled{Run: run.ID, Nodes: len(entries.Nodes), Verdicts: len(entries.Verdicts), Signer: signer.PublicKey.String()}
	err = atomicfile.WriteFrom(o.Path(r.File), 0o644, func(w io.Writer) error {
		counts, err := provenance.Write(ctx, w, store, signer, about, entries)
		b.Bytes = counts.Bytes
		return err
	})
	if err != nil {
		return nil, goneHint(fmt.Errorf("writing %s: %w", r.File, err))
	}
	return b, nil
}

// goneHint adds a hint to errors about content that the store no longer contains.
func goneHint(err error) error {
	gone, missing := (*provenance.GoneError)(nil), (*cache.MissingError)(nil)
	if errors.As(err, &gone) || errors.As(err, &missing) {
		err = fmt.Errorf("%w; `fevalgraph run` makes it again; export a bundle of that run", err)
	}
	return exit.With(exit.NotJudged, err)
}

// answersOf returns the nodes of a run in the order of their decisions.
func answersOf(state event.Records, run *event.Run) ([]provenance.Answered, error) {
	var all []provenance.Answered
	places := map[string]int{}
	var failed error
	err := history.Each(state, run, func(done event.NodeDone) bool {
		at, again := places[done.Addr] // a node can be decided twice
		if !again {
			at = len(all)
			places[done.Addr], all = at, append(all, provenance.Answered{Addr: done.Addr})
		}
		switch done.State {
		case event.Cached, event.Done, event.Timeout:
			all[at].Key, failed = cache.ParseKey(done.Key)
		default:
			all[at].Key = cache.Key{}
		}
		return failed == nil
	})
	return all, errors.Join(err, failed)
}

// VerifyRequest configures the check of a bundle.
type VerifyRequest struct {
	File  string
	Keys  []string // public keys, or files that begin with one; the signature must be by one of them
	Rerun int      // number of verdicts to produce again, in the project of the options
	Seed  string   // seed of the random sample
}

// Verified is the result of checking a bundle.
type Verified struct {
	*provenance.Checked
	Again *Audited // nil unless verdicts were produced again
	// Moved lists results that were the same although inputs differ from the bundle's.
	Moved []AuditedResult
}

// Verify checks a bundle. If requested and the bundle is valid, it produces a random sample of verdicts again.
func Verify(ctx context.Context, o Options, r VerifyRequest) (*Verified, error) {
	var keys []dsse.Verifier
	for _, text := range r.Keys {
		key, err := publicKey(o.Path(text), text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	checked, err := provenance.Check(ctx, o.Path(r.File), keys)
	switch {
	case errors.Is(err, pack.ErrNoArchive), errors.Is(err, fs.ErrNotExist):
		return nil, exit.With(exit.Usage, err)
	case err != nil:
		return nil, exit.With(exit.NotJudged, err)
	}
	v := &Verified{Checked: checked}
	if r.Rerun == 0 || len(checked.Findings) > 0 {
		return v, nil
	}
	made, nodes := map[string]cache.Digest{}, map[string][]provenance.Node{}
	for _, one := range checked.Draw(r.Rerun, r.Seed) {
		made[one.Addr], nodes[one.Addr] = *one.Result, checked.Below(*one.Node)
	}
	if v.Again, err = auditOf(ctx, o, made); err != nil {
		return nil, err
	}
	for i := range v.Again.Different {
		d := &v.Again.Different[i]
		d.Causes = otherInputs(nodes[d.Addr], d.dependencies())
	}
	for _, same := range v.Again.same {
		if same.Causes = otherInputs(nodes[same.Addr], same.dependencies()); len(same.Causes) > 0 {
			v.Moved = append(v.Moved, same)
		}
	}
	return v, nil
}

// otherInputs returns the nodes that have other inputs now and depend on no node that changed. A node with the
// same inputs and other outputs is not included. The result is in dependency order.
func otherInputs(nodes []provenance.Node, now map[string]*graph.Status) (addrs []string) {
	differs := map[cache.Key]bool{}
	for _, n := range nodes {
		st := now[n.Addr]
		if st == nil {
			continue
		}
		differs[n.Key] = st.Key != n.Key || !slices.Equal(st.Outputs, n.Outputs)
		if st.Key != n.Key && !slices.ContainsFunc(n.Inputs, func(input cache.Key) bool { return differs[input] }) {
			addrs = append(addrs, n.Addr)
		}
	}
	return addrs
}

// publicKey parses a public key, or reads it from the first line of a file.
func publicKey(path, text string) (key remote.PublicKey, err error) {
	if content, err := os.ReadFile(path); err == nil {
		text, _, _ = strings.Cut(string(content), "\n")
	}
	if key, err = remote.ParsePublicKey(text); err != nil {
		return key, exit.With(exit.Usage, fmt.Errorf("--key %s: %w", text, err))
	}
	return key, nil
}
