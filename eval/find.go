package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
)

// FoundUses lists the verdicts and tasks that used a file, image or requirement.
type FoundUses struct {
	Kind   string // kind of the search term: digest, file, image or requirement
	Digest string // digest of a file or an image; "" for a requirement
	history.Uses
	// Present is parallel to Found: the State of the verdict if it is the last known one, otherwise "".
	Present []string
}

// Verdict returns a word for the verdict of a use, or the outcome of its task.
func (f *FoundUses) Verdict(use int) string {
	if t := f.Found[use].Task; t != nil {
		return t.Outcome
	}
	return selection.VerdictWords(f.Found[use].Result)[0]
}

// Find searches the recorded runs for verdicts that used a file with its current content, content with a
// digest, an image that the configuration names, or a requirement with or without a version.
func Find(ctx context.Context, o Options, term string) (*FoundUses, error) {
	f, match, err := findTerm(ctx, o, term)
	if err != nil {
		return nil, err
	}
	store, end, err := stores.Past(&o)
	if err != nil {
		return nil, err
	}
	defer end()
	uses, err := history.FindUses(ctx, o.Records(), store, match)
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if uses.Runs == 0 {
		return nil, exit.Past(event.ErrNoRuns)
	}
	f.Uses, f.Present = *uses, make([]string, len(uses.Found))
	if len(uses.Found) == 0 {
		return f, nil
	}
	present, err := Present(ctx, o)
	var mistakes diag.List
	if errors.As(err, &mistakes) { // the current state is unknown
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	states, judged := map[string]string{}, history.JudgedIn(present)
	for i := range present.Cells {
		for _, c := range present.Cells[i].Checkpoints {
			states[plan.ResultCell(&present.Cells[i]).At(c.Name).String()] = cmp.Or(c.State, Fresh)
		}
	}
	for i := range present.Tasks {
		states[present.Tasks[i].Address()] = cmp.Or(present.Tasks[i].State, Fresh)
	}
	for i, use := range uses.Found {
		name := use.Name()
		for _, run := range use.Runs {
			if judged.Run(name) == run {
				f.Present[i] = states[name]
			}
		}
	}
	return f, nil
}

var (
	hexDigest   = lazyregexp.New(`^(sha256:)?[0-9a-f]{12,64}$`)
	requirement = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\s*==\s*|\s+)?(\S+)?$`)
)

// findTerm returns the meaning of a term, and a matcher of manifests.
func findTerm(ctx context.Context, o Options, term string) (*FoundUses, history.Matcher, error) {
	info, err := os.Stat(o.Path(term))
	switch {
	case err == nil && info.IsDir():
		return nil, nil, exit.With(exit.Usage, fmt.Errorf("%s is a directory: name a file in it", term))
	case err == nil && info.Mode().IsRegular():
		sum, err := sumFile(ctx, o.Path(term))
		if err != nil {
			return nil, nil, exit.With(exit.Usage, err)
		}
		return &FoundUses{Kind: "file", Digest: sum.Hex()}, matchDigests(sum.Hex()), nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !options.IsDenied(err):
		return nil, nil, exit.With(exit.Usage, err)
	case hexDigest().MatchString(term):
		sum := strings.TrimPrefix(term, "sha256:")
		return &FoundUses{Kind: "digest", Digest: sum}, matchDigests(sum), nil
	}
	ids, err := imageIDs(ctx, o, term)
	if err != nil {
		return nil, nil, err
	}
	if len(ids) > 0 {
		return &FoundUses{Kind: "image", Digest: ids[0]}, matchDigests(ids...), nil
	}
	parts := requirement().FindStringSubmatch(strings.TrimSpace(term))
	if parts == nil || strings.ContainsAny(term, "/:") {
		return nil, nil, exit.With(exit.Usage, fmt.Errorf("%q is not a file, a digest, an image of the configuration, or a requirement such as deepdiff==8.6.0", term))
	}
	return &FoundUses{Kind: "requirement"}, matchRequirement(parts[1], parts[2]), nil
}

func sumFile(ctx context.Context, path string) (cache.Digest, error) {
	file, err := os.Open(path)
	if err != nil {
		return cache.Digest{}, err
	}
	defer file.Close()
	return cache.Sum(ctx, file)
}

// matchDigests matches nodes whose manifest or outputs contain one of the digests, or a digest that begins with
// one.
func matchDigests(hex ...string) history.Matcher {
	has := func(text string) bool {
		for _, one := range hex {
			at := strings.Index(text, one)
			if at >= 0 && (at == 0 || !isHex(text[at-1])) {
				return true
			}
		}
		return false
	}
	return func(fields []graph.Field, outputs []cache.Output) string {
		for _, f := range fields {
			if has(f.Value) {
				return f.Label
			}
		}
		for _, o := range outputs {
			if has(o.Digest.Hex()) {
				return "output " + o.Name
			}
		}
		return ""
	}
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// matchRequirement matches nodes with a locked requirement, in a separate field or in a list.
func matchRequirement(name, version string) history.Matcher {
	name = normalName(name)
	own := "requirement "
	pin := regexp.MustCompile(`(?i)(?:^|")([A-Za-z0-9._-]+)==([^\s";]+)`)
	return func(fields []graph.Field, _ []cache.Output) string {
		for _, f := range fields {
			of, single := strings.CutPrefix(f.Label, own)
			switch {
			case single && normalName(of) == name && (version == "" || f.Value == version):
				return f.Label + " " + f.Value
			case f.Label == "requirements":
				for _, m := range pin.FindAllStringSubmatch(f.Value, -1) {
					if normalName(m[1]) == name && (version == "" || m[2] == version) {
						return own + m[1] + " " + m[2]
					}
				}
			}
		}
		return ""
	}
}

var separators = lazyregexp.New(`[-_.]+`)

// normalName normalizes the name of a Python package as indexes do.
func normalName(name string) string { return strings.ToLower(separators().ReplaceAllString(name, "-")) }

// imageIDs returns the identities that keys currently contain for an image of the configuration; none if no
// backend names it.
func imageIDs(ctx context.Context, o Options, image string) (ids []string, err error) {
	cfg := o.Configured()
	if cfg == nil {
		return nil, nil
	}
	on := map[string]bool{}
	for _, b := range cfg.Backends {
		if b.Container != nil && b.Container.Image == image {
			on[b.Addr()] = true
		}
	}
	if len(on) == 0 {
		return nil, nil
	}
	p, err := Open(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.call.close()
	seen := map[string]bool{}
	all, err := p.decideOn(ctx, everyNode(p.Plan.Graph)...)
	if err != nil {
		return nil, err
	}
	for _, id := range all.rep.Nodes {
		if !on[p.Plan.Graph.Node(id).Label("backend")] {
			continue
		}
		fields, _ := graph.DecodeManifest(all.rep.Status(id).Manifest)
		for _, f := range fields {
			if f.Label == "backend image" && !seen[f.Value] {
				seen[f.Value] = true
				ids = append(ids, strings.TrimPrefix(f.Value, "sha256:"))
			}
		}
	}
	if len(ids) == 0 {
		return nil, exit.With(exit.NotJudged, fmt.Errorf("the identity of image %q is unknown now (hint: find it by its digest, which `fevalgraph explain` shows)", image))
	}
	return ids, nil
}
