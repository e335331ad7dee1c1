package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/buildlog"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/report"
)

// PackRequest says what goes into a pack.
type PackRequest struct {
	Request
	File string // to write
	Run  string // whose record a merge reads: an id, or "latest"; "" is none
}

// Packed is what went into a pack, or came out of some.
type Packed struct {
	pack.Counts
	Stale int // nodes that were asked for and have no answer to pack
}

// Files of the caller's in a pack.
const (
	packNodes   = "nodes.jsonl"
	packEvents  = "run/events.jsonl"
	packLogs    = "run/logs.json"
	packResults = "run/results.json"
	packKeys    = "run/keys.jsonl"
)

// packNode is a line of packNodes: what tells another machine how long a node takes.
type packNode struct {
	Addr    string  `json:"addr"`
	Seconds float64 `json:"seconds"`
}

// packKey is a line of packKeys: a node of the run, and the key that it had.
type packKey struct {
	Addr string `json:"addr"`
	Key  string `json:"key"`
}

// Pack writes the answers of the nodes that a request picks, and everything that they lead
// to, into a file. It decides like Plan, and leaves out what is stale.
func Pack(ctx context.Context, o Options, r PackRequest) (*Packed, error) {
	p, answers, stale, err := stored(ctx, &o, r.Request, Reading)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	signer, err := o.RecordKey(false)
	if err != nil {
		return nil, err
	}
	packed := &Packed{Stale: stale}
	contents := pack.Contents{Records: map[cache.Key]*cache.Record{}, Extra: map[string][]byte{}}
	var nodes bytes.Buffer
	for _, n := range answers {
		record, err := p.store.Record(ctx, n.key)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		if record == nil {
			packed.Stale++ // the build log had the answer, and the record was removed since
			continue
		}
		contents.Records[n.key] = record
		line, err := json.Marshal(packNode{Addr: n.addr, Seconds: record.Seconds})
		if err != nil {
			return nil, err
		}
		nodes.Write(append(line, '\n'))
	}
	if r.Run != "" {
		if contents.Extra, err = mergeable(p.state, r.Run); err == nil {
			err = addResults(contents.Extra, p.state, r.Run)
		}
		if err != nil {
			return nil, exit.Past(err)
		}
	}
	contents.Extra[packNodes] = nodes.Bytes()
	err = atomicfile.WriteFrom(o.Path(r.File), 0o644, func(w io.Writer) error {
		packed.Counts, err = pack.Write(ctx, w, p.store, signer, contents)
		return err
	})
	if err != nil {
		return nil, exit.With(exit.NotJudged, fmt.Errorf("writing %s: %w", r.File, err))
	}
	return packed, nil
}

// mergeable is the record of a run, as far as a merge needs it: files of a pack.
func mergeable(state, name string) (map[string][]byte, error) {
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
	extra := map[string][]byte{packEvents: events, packLogs: encoded}
	return extra, nil
}

// addResults adds what a comparison needs of a run: its results, and the keys of its nodes. A run
// that was interrupted has none, and can be merged.
func addResults(extra map[string][]byte, state, run string) error {
	record, err := history.Open(state, run)
	if err != nil {
		return nil //nolint:nilerr // see above; a damaged record is no reason not to pack what is whole
	}
	var results, keys bytes.Buffer
	err = record.Nodes(func(addr, key string) {
		line, _ := json.Marshal(packKey{Addr: addr, Key: key}) // of text
		keys.Write(append(line, '\n'))
	})
	if err == nil {
		err = report.Write(&results, "json", record.Results, report.Options{})
	}
	extra[packResults], extra[packKeys] = results.Bytes(), keys.Bytes()
	return err
}

// Unpack puts what packs have into the store, so that the next plan finds it. Records that
// neither the user nor the group signed stay out unless they are adopted.
func Unpack(ctx context.Context, o Options, files []string, adopt bool) (*Packed, error) {
	u, err := unpack(ctx, &o, files, adopt)
	if err != nil {
		return nil, err
	}
	return &u.total, learn(&o, u.seconds)
}

// unpacked is what packs had beside what is in the store now.
type unpacked struct {
	total   Packed
	seconds map[string]float64 // of nodes, by their addresses
	extra   []map[string][]byte
}

func unpack(ctx context.Context, o *Options, files []string, adopt bool) (*unpacked, error) {
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
	u := &unpacked{seconds: map[string]float64{}}
	for _, file := range files {
		extra := map[string][]byte{}
		r := pack.Reader{Store: disk, Signer: signer, Adopt: adopt, Extra: func(name string, content []byte) error {
			extra[name] = content
			return nil
		}}
		counts, err := r.Read(ctx, o.Path(file))
		if errors.Is(err, pack.ErrNoArchive) || errors.Is(err, fs.ErrNotExist) {
			return nil, exit.With(exit.Usage, err)
		}
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		u.total.add(counts)
		for line := range bytes.Lines(extra[packNodes]) {
			var n packNode
			if json.Unmarshal(line, &n) == nil && n.Addr != "" && n.Seconds > 0 {
				u.seconds[n.Addr] = n.Seconds
			}
		}
		u.extra = append(u.extra, extra)
	}
	return u, nil
}

func (p *Packed) add(c pack.Counts) {
	p.Blobs, p.Records, p.Bytes = p.Blobs+c.Blobs, p.Records+c.Records, p.Bytes+c.Bytes
	p.Foreign, p.Kept = p.Foreign+c.Foreign, p.Kept+c.Kept
}

// learn notes how long nodes took on another machine, for those that this project knows
// nothing of. It is all that is taken from a pack without a signature.
func learn(o *Options, seconds map[string]float64) error {
	state := o.StateDir()
	if err := options.MakeState(state); err != nil {
		return exit.With(exit.Usage, options.HintStateDir(err))
	}
	log, err := buildlog.Open(filepath.Join(state, "buildlog"))
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	for _, addr := range slices.Sorted(maps.Keys(seconds)) {
		if _, known := log.Get(addr); !known {
			err = errors.Join(err, log.Append(buildlog.Entry{Addr: addr, Seconds: seconds[addr]}))
		}
	}
	if err = errors.Join(err, log.Close()); err != nil {
		return exit.With(exit.NotJudged, err)
	}
	return nil
}
