package harbor

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// collected writes the artifacts of a recorded trial, or of a step of it, as they were
// judged, with the manifest's lines about them. As where Harbor grades again, links are
// replaced by what they lead to.
func (j *job) collected(ctx context.Context, cell *plan.Cell, cc *plan.CellCheckpoint, trial, step string) error {
	i := slices.IndexFunc(cell.Solution.Checkpoints, func(c lang.SolutionCheckpoint) bool { return c.Checkpoint == cc.Checkpoint })
	root, ok := j.e.Plan.SubmissionTree(j.e.Run, cell, cc)
	if i < 0 || !ok || cell.Solution.Checkpoints[i].Parts == nil {
		return nil
	}
	from, to := cell.Solution.Recorded.Path, filepath.Join(j.dir, trial)
	if step != "" {
		from, to = filepath.Join(from, "steps", step), filepath.Join(to, "steps", fileName(step))
	}
	lines, err := j.manifest(from)
	if err != nil {
		return err
	}
	entries := map[string]cache.Entry{}
	if err := cache.WalkTree(ctx, j.e.Store, root, func(e cache.Entry) error {
		entries[e.Path] = e
		return nil
	}); err != nil {
		return err
	}
	kept := []entry{}
	for _, part := range cell.Solution.Checkpoints[i].Parts {
		at := slices.IndexFunc(lines, func(e entry) bool {
			return strings.Trim(e.Source, "/") == part.Target && (e.Status == "ok" || e.Status == "empty") && strings.HasPrefix(path.Clean(e.Destination), "artifacts/")
		})
		if at < 0 {
			continue
		}
		kept = append(kept, lines[at])
		if err := j.copyPart(ctx, entries, part.Target, filepath.Join(to, lines[at].Destination)); err != nil {
			return err
		}
	}
	text, err := encode(kept)
	if err != nil {
		return err
	}
	return j.out.Write(filepath.Join(to, "artifacts", "manifest.json"), text)
}

// manifest reads the last lines of a manifest first.
func (j *job) manifest(dir string) ([]entry, error) {
	name := filepath.Join(dir, "artifacts", "manifest.json")
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var lines []entry
	if err := decodeRecord(file, &lines); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	slices.Reverse(lines)
	return lines, nil
}

// copyPart writes what is at or below a path of a tree to a place.
func (j *job) copyPart(ctx context.Context, entries map[string]cache.Entry, target, to string) error {
	var names []string
	for name := range entries {
		if name == target || strings.HasPrefix(name, target+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		e := entries[name]
		for hops := 0; e.Link != "" && hops < 40; hops++ {
			e = entries[path.Join(path.Dir(e.Path), e.Link)]
		}
		place := filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(name, target)))
		if e.Dir {
			if err := j.out.MakeDir(place); err != nil {
				return err
			}
		}
		if e.Dir || e.Link != "" || e.Digest == (cache.Digest{}) {
			continue // a link that leads to a directory, or nowhere
		}
		content, err := cache.ReadBlob(ctx, j.e.Store, e.Digest, -1)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if e.Executable {
			mode = 0o755
		}
		if err := j.out.WriteMode(place, content, mode); err != nil {
			return err
		}
	}
	return nil
}
