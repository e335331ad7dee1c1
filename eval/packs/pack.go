// Package packs writes stored answers, and the record of a run, into one file, and reads it on another machine:
// an archive of cache/pack with additional files. The caller selects the nodes.
package packs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/eval/causes"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/report"
)

// Packed counts the records and blobs of a pack, or of several.
type Packed struct {
	pack.Counts
	Stale int // selected nodes without an answer to pack
}

// Answered is a node with the key of its stored answer.
type Answered struct {
	Addr string
	Key  cache.Key
}

// Additional files of a pack.
const (
	nodesFile   = "nodes.jsonl"
	eventsFile  = "run/events.jsonl"
	logsFile    = "run/logs.json"
	resultsFile = "run/results.json"
	keysFile    = "run/keys.jsonl"
	proofFile   = "run/proof" // of eventsFile and logsFile
)

// nodeLine is a line of nodesFile: the duration of a node, for other machines.
type nodeLine struct {
	Addr    string  `json:"addr"`
	Seconds float64 `json:"seconds"`
}

// keyLine is a line of keysFile: a node of the run, the key that it had, the digests of its
// outputs, and the addresses of the nodes that it depends on.
type keyLine struct {
	Addr string   `json:"addr"`
	Kind string   `json:"kind,omitempty"`
	Key  string   `json:"key"`
	Made []string `json:"made,omitempty"`
	Deps []string `json:"deps,omitempty"`
}

// Write writes the answers of nodes in a store, with all referenced content, into a file, together with the
// record of a run: an id, "latest", or "" for no record.
func Write(ctx context.Context, o *options.Options, file string, store cache.Store, nodes []Answered, state event.Records, run string) (*Packed, error) {
	signer, err := o.RecordKey(false)
	if err != nil {
		return nil, err
	}
	packed := &Packed{}
	contents := pack.Contents{Records: map[cache.Key]*cache.Record{}, Extra: map[string][]byte{}}
	var lines bytes.Buffer
	for _, n := range nodes {
		record, err := store.Record(ctx, n.Key)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		if record == nil {
			packed.Stale++ // its record was removed since it was decided
			continue
		}
		contents.Records[n.Key] = record
		line, err := json.Marshal(nodeLine{Addr: n.Addr, Seconds: record.Seconds})
		if err != nil {
			return nil, err
		}
		lines.Write(append(line, '\n'))
	}
	if run != "" {
		if contents.Extra, err = mergeable(state, run); err == nil {
			err = addResults(ctx, &contents, store, state, run)
		}
		if err != nil {
			return nil, exit.Past(err)
		}
	}
	contents.Extra[nodesFile] = lines.Bytes()
	err = atomicfile.WriteFrom(o.Path(file), 0o644, func(w io.Writer) error {
		packed.Counts, err = pack.Write(ctx, w, store, signer, contents)
		return err
	})
	if err != nil {
		return nil, exit.With(exit.NotJudged, fmt.Errorf("writing %s: %w", file, err))
	}
	return packed, nil
}

// mergeable returns the files of a run's record that a merge needs.
func mergeable(state event.Records, name string) (map[string][]byte, error) {
	run, err := event.FindRun(state, name)
	if err != nil {
		return nil, err
	}
	events, err := run.Events()
	if err != nil {
		return nil, err
	}
	logs := map[string][]byte{}
	for line := range bytes.Lines(events) {
		if done, ok := event.Decode(line).(event.NodeDone); ok && done.State == event.Broken {
			if log, err := run.Log(done.Addr); err == nil {
				logs[done.Addr] = log
			}
		}
	}
	encoded, err := json.Marshal(logs)
	if err != nil {
		return nil, err
	}
	extra := map[string][]byte{eventsFile: events, logsFile: encoded}
	extra[proofFile] = proveRun(state.Key, extra)
	return extra, nil
}

// proveRun returns the proof of a run's record in a pack.
func proveRun(key proof.Key, extra map[string][]byte) []byte {
	sum := sha256.Sum256(extra[eventsFile])
	return key.Of([]byte("pack\x00"), sum[:], extra[logsFile])
}

// addResults adds the parts of a run that a comparison needs: its results, and its nodes with their keys and
// their records in the store. An interrupted run has none, and can be merged.
func addResults(ctx context.Context, into *pack.Contents, store cache.Store, state event.Records, run string) error {
	record, err := history.Open(state, run)
	if err != nil {
		return nil //nolint:nilerr // see above; a damaged record must not prevent packing the others
	}
	var results, keys bytes.Buffer
	var made []cache.Key
	err = record.Nodes(func(node *causes.Row, deps []string) {
		n := keyLine{Addr: node.Addr, Kind: node.Kind, Deps: deps}
		if !node.Key.IsZero() {
			n.Key = node.Key.String()
		}
		for _, o := range node.Outputs {
			n.Made = append(n.Made, o.Digest.String())
		}
		line, _ := json.Marshal(n) // of text
		keys.Write(append(line, '\n'))
		made = append(made, node.Key)
	})
	for _, key := range made {
		if into.Records[key] == nil && !key.IsZero() && err == nil {
			err = addRecord(ctx, into, store, key)
		}
	}
	if err == nil {
		err = report.Write(&results, "json", record.Results, report.Options{})
	}
	into.Extra[resultsFile], into.Extra[keysFile] = results.Bytes(), keys.Bytes()
	return err
}

// addRecord adds the record of a key, if the store contains it and all referenced content.
func addRecord(ctx context.Context, into *pack.Contents, store cache.Store, key cache.Key) error {
	record, err := store.Record(ctx, key)
	var foreign *cache.ForeignError
	if record == nil || errors.As(err, &foreign) {
		return nil
	}
	seen := map[cache.Output]bool{}
	for _, o := range record.Outputs {
		err = errors.Join(err, cache.EachBlob(ctx, store, o, seen, func(o cache.Output) error {
			if has, err := store.Has(ctx, o.Digest); err != nil || !has {
				return cmp.Or(err, error(&cache.MissingError{Digest: o.Digest}))
			}
			return nil
		}))
	}
	var missing *cache.MissingError
	if errors.As(err, &missing) {
		return nil
	}
	if err == nil {
		into.Records[key] = record
	}
	return err
}
