package harbor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
)

// collectedAlways is collected by Harbor whether or not a task declares it.
const collectedAlways = "/logs/artifacts"

// mainService is the service of an artifact that names none.
const mainService = "main"

// entry is a line of a manifest: something that was collected, or not.
type entry struct {
	Source      string   `json:"source"`
	Destination string   `json:"destination"` // relative to the directory of the trial or step
	Type        string   `json:"type"`        // "file" or "directory"
	Status      string   `json:"status"`      // "ok", "failed", "empty" or "skipped"
	Service     *string  `json:"service"`
	Exclude     []string `json:"exclude"` // nil: an old manifest, which does not say
}

func (e *entry) isOf(service, source string) bool {
	own := mainService
	if e.Service != nil && *e.Service != "" {
		own = *e.Service
	}
	return own == service && strings.TrimRight(e.Source, "/") == strings.TrimRight(source, "/")
}

// target returns the path of an artifact, relative to the directory of the trial or step.
func (d *taskArtifact) target() string {
	if d.Destination != "" {
		return path.Join("artifacts", d.Destination)
	}
	return path.Join("artifacts", d.Source)
}

// record is a directory of a trial or of a step of one with what it has for a verifier.
type record struct {
	files   *lang.ReaderFiles
	trial   string // absolute
	dir     string // likewise: trial, or a step's directory in it
	entries []entry
}

// openRecord reads the manifest of a trial, or of a step; step is "" for a trial.
func openRecord(files *lang.ReaderFiles, trial, step string) (*record, error) {
	r := &record{files: files, trial: trial, dir: trial}
	if step != "" {
		r.dir = filepath.Join(trial, "steps", step)
	}
	if _, err := r.place("."); err != nil {
		return nil, err
	}
	err := readRecord(files, filepath.Join(r.dir, "artifacts", "manifest.json"), &r.entries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it has no artifacts/manifest.json")
	}
	if err != nil {
		return nil, fmt.Errorf("its artifacts/manifest.json: %w", err)
	}
	return r, nil
}

// place resolves a path relative to the record's directory. It must be below the trial's directory.
func (r *record) place(rel string) (string, error) {
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is outside of the trial", rel)
	}
	at := filepath.Join(r.dir, rel)
	r.files.Exists(at)
	real, err := filepath.EvalSymlinks(at)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s no longer exists", rel)
	}
	top, topErr := filepath.EvalSymlinks(r.trial)
	if err = errors.Join(err, topErr); err != nil {
		return "", err
	}
	if !subpath.Contains(top, real) {
		return "", fmt.Errorf("%s is a link that points outside of the trial", rel)
	}
	return real, nil
}

// parts returns the artifacts that a task declares, at their paths below the root of a container, or an
// error with everything that keeps a verifier from them.
func (r *record) parts(wanted []taskArtifact) ([]lang.Part, error) {
	if !slices.ContainsFunc(wanted, func(d taskArtifact) bool {
		return d.Source == collectedAlways && (d.Service == "" || d.Service == mainService)
	}) {
		wanted = append([]taskArtifact{{Source: collectedAlways}}, wanted...)
	}
	var parts []lang.Part
	var wrong []error
	for _, d := range wanted {
		part, err := r.part(&d)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", d.Source, err))
		}
		parts = append(parts, part)
	}
	return parts, errors.Join(wrong...)
}

func (r *record) part(d *taskArtifact) (part lang.Part, err error) {
	part.Target = strings.Trim(path.Clean(d.Source), "/")
	found := r.find(d)
	if found == nil {
		return part, r.absent(d)
	}
	switch {
	case found.Status == "failed":
		return part, errors.New("collecting it failed")
	case found.Status == "skipped":
		return part, errors.New("it was skipped: the files at its path belong to another artifact")
	case found.Type == "directory" && found.Exclude != nil && !sameSet(found.Exclude, d.Exclude):
		return part, fmt.Errorf("it was collected without %q, but the task excludes %q", found.Exclude, d.Exclude)
	case found.Status == "empty" && found.Type != "directory":
		return part, errors.New("it is empty and not a directory")
	case found.Status == "empty":
		return part, nil
	case found.Status != "ok":
		return part, fmt.Errorf("its status is %q", found.Status)
	}
	if part.Source, err = r.place(filepath.FromSlash(d.target())); err != nil {
		return part, err
	}
	info, err := os.Stat(part.Source)
	if err == nil && (found.Type == "directory") != info.IsDir() {
		err = fmt.Errorf("it is no longer a %s", found.Type)
	}
	return part, err
}

// find returns the last line about an artifact at its path.
func (r *record) find(d *taskArtifact) *entry {
	for i := len(r.entries) - 1; i >= 0; i-- {
		if e := &r.entries[i]; e.isOf(d.serviceName(), d.Source) && e.Destination == d.target() {
			return e
		}
	}
	return nil
}

// absent returns why no line is about an artifact.
func (r *record) absent(d *taskArtifact) error {
	for i := range r.entries {
		if e := &r.entries[i]; e.isOf(d.serviceName(), d.Source) {
			return fmt.Errorf("it was collected as %s, but the task expects %s", e.Destination, d.target())
		}
	}
	return errors.New("it was never collected")
}

func (d *taskArtifact) serviceName() string {
	if d.Service == "" {
		return mainService
	}
	return d.Service
}

// singleArtifact returns the artifact of a trial for a problem without declared artifacts: the one next to
// collectedAlways, or collectedAlways.
func (r *record) singleArtifact() (string, error) {
	var found []*entry
	for i := range r.entries {
		if e := &r.entries[i]; e.Status == "ok" {
			found = append(found, e)
		}
	}
	others := slices.DeleteFunc(slices.Clone(found), func(e *entry) bool { return e.isOf(mainService, collectedAlways) })
	if len(others) > 0 {
		found = others
	}
	switch len(found) {
	case 0:
		return "", errors.New("nothing was collected")
	case 1:
		return r.place(filepath.FromSlash(found[0].Destination))
	}
	return "", fmt.Errorf("%d artifacts were collected, and the solution is not specified", len(found))
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
