package packs

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/eval/causes"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// Unpack adds the content of packs to the store, so that the next plan finds it. Records that neither the user
// nor the group signed are ignored, unless they are adopted.
func Unpack(ctx context.Context, o options.Options, files []string, adopt bool) (*Packed, error) {
	u, err := unpack(ctx, &o, files, adopt)
	if err != nil {
		return nil, err
	}
	return &u.total, learn(&o, u.seconds)
}

// longestNode limits the duration of a node, in seconds: a year.
const longestNode = 366 * 24 * 3600

// contents describes packs, without the answers, which are now in the store.
type contents struct {
	total   Packed
	seconds map[string]float64 // durations of nodes, by address
	extra   []map[string][]byte
}

func unpack(ctx context.Context, o *options.Options, files []string, adopt bool) (*contents, error) {
	signer, err := o.RecordKey(true)
	if err != nil {
		return nil, err
	}
	dir, err := o.CacheDir(o.Configured())
	if err != nil {
		return nil, err
	}
	disk, err := cache.OpenDisk(dir, cache.Options{Signer: signer})
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	defer disk.Close()
	u := &contents{seconds: map[string]float64{}}
	for _, file := range files {
		counts, extra, err := read(ctx, o.Path(file), pack.Reader{Store: disk, Signer: signer, Adopt: adopt})
		if errors.Is(err, pack.ErrNoArchive) || errors.Is(err, fs.ErrNotExist) {
			return nil, exit.With(exit.Usage, err)
		}
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		u.total.add(counts)
		for line := range bytes.Lines(extra[nodesFile]) {
			var n nodeLine
			if json.Unmarshal(line, &n) == nil && n.Addr != "" && n.Seconds > 0 && n.Seconds < longestNode {
				u.seconds[n.Addr] = n.Seconds
			}
		}
		u.extra = append(u.extra, extra)
	}
	return u, nil
}

// read reads a pack with r; extra receives the pack's additional files by name.
func read(ctx context.Context, path string, r pack.Reader) (counts pack.Counts, extra map[string][]byte, err error) {
	extra = map[string][]byte{}
	r.Extra = func(name string, content []byte) error {
		if extra[name] != nil {
			return fmt.Errorf("%w: %s is duplicated", pack.ErrNoArchive, name)
		}
		extra[name] = content
		return nil
	}
	counts, err = r.Read(ctx, path)
	return counts, extra, err
}

func (p *Packed) add(c pack.Counts) {
	p.Blobs, p.Records, p.Bytes = p.Blobs+c.Blobs, p.Records+c.Records, p.Bytes+c.Bytes
	p.Foreign, p.Kept = p.Foreign+c.Foreign, p.Kept+c.Kept
}

// Gather adds the runs of inputs to a merge. An input is a pack with the record of a run, whose answers it
// puts into the store, or the directory of a project, whose latest run it uses. With adopt, records of packs
// count with any signature.
func Gather(ctx context.Context, o *options.Options, into *shards.Merged, inputs []string, adopt bool) error {
	var files []string
	for _, input := range inputs {
		if !o.HasDir(input) {
			files = append(files, input)
		}
	}
	u, err := unpack(ctx, o, files, adopt)
	if err != nil {
		return err
	}
	if err := learn(o, u.seconds); err != nil {
		return err
	}
	if u.total.Foreign > 0 {
		o.Note(options.ForeignRecords{Count: u.total.Foreign})
	}
	key := o.Records().Key
	for _, input := range inputs {
		var extra map[string][]byte
		if o.HasDir(input) {
			if extra, err = latestIn(o, input); err != nil {
				return exit.With(exit.Usage, err)
			}
		} else {
			extra, u.extra = u.extra[0], u.extra[1:]
			if !adopt && extra[eventsFile] != nil && !hmac.Equal(extra[proofFile], proveRun(key, extra)) {
				o.Note(options.ForeignRun{File: input})
				continue
			}
		}
		if err := into.Add(input, extra[eventsFile], extra[logsFile]); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	return nil
}

// latestIn returns the record of the latest run of a project in a directory.
func latestIn(o *options.Options, dir string) (map[string][]byte, error) {
	state := o.Path(dir)
	if inside := filepath.Join(dir, options.StateName); o.HasDir(inside) {
		state = o.Path(inside)
	}
	extra, err := mergeable(o.RecordsIn(state, false), "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Path(dir), err)
	}
	return extra, nil
}

// Run holds a run of a pack and the nodes that made it.
type Run struct {
	Results *report.Results
	Partial bool // a selection left out cells
	Made    causes.Side
}

// ReadRun reads the run in a pack into memory, with any signature: nothing of it is served.
func ReadRun(ctx context.Context, o *options.Options, name string) (*Run, error) {
	store := cache.NewMemory()
	_, extra, err := read(ctx, o.Path(name), pack.Reader{Store: store, Adopt: true, InMemory: true})
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if extra[resultsFile] == nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s has no results; create it with `fevalgraph cache pack --run latest`", name))
	}
	results, err := report.Decode(bytes.NewReader(extra[resultsFile]))
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", name, err))
	}
	first, _, _ := bytes.Cut(extra[eventsFile], []byte{'\n'})
	start, _ := event.Decode(first).(event.RunStart)
	return &Run{Results: results, Partial: start.Partial, Made: causes.Side{Store: store, Nodes: func(fn func(*causes.Row, []string)) error {
		for line := range bytes.Lines(extra[keysFile]) {
			var n keyLine
			if json.Unmarshal(line, &n) == nil {
				node := causes.Row{Addr: n.Addr, Kind: n.Kind}
				node.Key, _ = cache.ParseKey(n.Key) // a broken node can lack one
				for _, text := range n.Made {
					if digest, err := cache.ParseDigest(text); err == nil {
						node.Outputs = append(node.Outputs, cache.Output{Digest: digest})
					}
				}
				fn(&node, n.Deps)
			}
		}
		return nil
	}}}, nil
}

// learn records how long nodes took on another machine, if this project does not know. Nothing else is used
// from a pack without a signature.
func learn(o *options.Options, seconds map[string]float64) error {
	state := o.StateDir()
	if err := options.MakeState(state); err != nil {
		return exit.With(exit.Usage, options.HintStateDir(err))
	}
	place := o.Place(state, true)
	last := partition.ReadLast(state, place)
	last.Expect(seconds)
	if err := last.Write(state, place); err != nil {
		return exit.With(exit.NotJudged, err)
	}
	return nil
}
