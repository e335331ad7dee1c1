package outdir

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// ListName names the file that lists the files of a directory that exports wrote.
const ListName = ".fevalgraph-export.json"

// Dir is a directory that an export writes. It lists the files that the export wrote, so that a
// later export by the same writer removes the files that it does not write again, and no others.
type Dir struct {
	path   string
	writer string
	lists  map[string]map[string]string // by writer: digests of files by their slash-separated paths
	wrote  map[string]string
}

// open reads the lists of a directory, which need not exist.
func open(path, writer string) (*Dir, error) {
	d := &Dir{path: path, writer: writer, lists: map[string]map[string]string{}, wrote: map[string]string{}}
	if info, err := os.Lstat(filepath.Join(path, ListName)); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: remove it", filepath.Join(path, ListName))
	}
	content, err := os.ReadFile(filepath.Join(path, ListName))
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &d.lists); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove the directory, and the next run writes it again", filepath.Join(path, ListName), err)
	}
	return d, nil
}

// Write writes a file below the directory, as the function Write does.
func (d *Dir) Write(path string, content []byte) error { return d.WriteMode(path, content, 0o644) }

// WriteMode writes a file below the directory, as the function WriteMode does.
func (d *Dir) WriteMode(path string, content []byte, mode fs.FileMode) error {
	name, ok := subpath.Rel(d.path, path)
	if !ok {
		return fmt.Errorf("%s is not below the export's directory %s: rename the problem, checkpoint or solution", path, d.path)
	}
	if err := d.makeParents(name); err != nil {
		return err
	}
	d.wrote[name] = digest(content)
	return WriteMode(path, content, mode)
}

// MakeDir makes a directory below the directory, which a later export removes if it is empty then.
func (d *Dir) MakeDir(path string) error {
	name, ok := subpath.Rel(d.path, path)
	if !ok {
		return fmt.Errorf("%s is not below the export's directory %s", path, d.path)
	}
	if name == "." {
		return nil
	}
	d.wrote[name+"/"] = ""
	return d.makeParents(name + "/.")
}

// makeParents makes the directories of a file, and returns an error if a link leads out of the
// export's directory there. A link instead of the file itself is replaced.
func (d *Dir) makeParents(name string) error {
	if err := os.MkdirAll(d.path, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer root.Close()
	parent := filepath.Dir(filepath.FromSlash(name))
	err = root.MkdirAll(parent, 0o755)
	if err == nil {
		_, err = root.Stat(parent)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w; remove links out of the export's directory", filepath.Join(d.path, name), err)
	}
	return nil
}

// finish removes the files that an earlier export of the writer wrote and this one did not, unless
// their content is not what it wrote or another writer wrote them, and saves the list.
func (d *Dir) finish() error {
	old := d.lists[d.writer]
	d.lists[d.writer] = d.wrote
	var errs []error
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(old))) { // a directory after what is in it
		if d.isListed(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		errs = append(errs, d.remove(name, old[name]))
	}
	return errors.Join(append(errs, d.save())...)
}

func (d *Dir) save() error {
	text, err := json.MarshalIndent(d.lists, "", " ")
	if err != nil {
		return err
	}
	return Write(filepath.Join(d.path, ListName), append(text, '\n'))
}

// isListed reports whether a writer's export wrote a file.
func (d *Dir) isListed(name string) bool {
	for _, list := range d.lists {
		if _, has := list[name]; has {
			return true
		}
	}
	return false
}

// remove removes a file that still has the content that was written, or an empty directory, and the directories
// that are empty without it.
func (d *Dir) remove(name, written string) error {
	path := filepath.Join(d.path, filepath.FromSlash(name))
	name, isDir := strings.CutSuffix(name, "/")
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) { // a link leads elsewhere
		if info, err := os.Lstat(filepath.Join(d.path, filepath.FromSlash(dir))); err == nil && !info.IsDir() {
			return nil
		}
	}
	info, err := os.Lstat(path)
	if isDir && err == nil && info.IsDir() {
		d.removeEmpty(path)
		return nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // there is nothing to remove
	}
	if content, err := os.ReadFile(path); err != nil || digest(content) != written {
		return err
	}
	if err := Remove(path); err != nil {
		return err
	}
	d.removeEmpty(filepath.Dir(path))
	return nil
}

// removeEmpty removes an empty directory, and those above that are empty without it, unless an export made them.
func (d *Dir) removeEmpty(dir string) {
	for ; dir != d.path; dir = filepath.Dir(dir) {
		name, below := subpath.Rel(d.path, dir)
		if !below || d.isListed(name+"/") || os.Remove(dir) != nil { // it is not empty
			return
		}
	}
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Export opens a directory, lets write fill it, and removes what earlier exports of the writer left.
// After an error it removes nothing.
func Export(path, writer string, write func(*Dir) error) error {
	d, err := open(path, writer)
	if err != nil {
		return err
	}
	if err := write(d); err != nil {
		for name, sum := range d.lists[writer] { // for the next export
			d.wrote[name] = cmp.Or(d.wrote[name], sum)
		}
		d.lists[writer] = d.wrote
		if len(d.wrote) == 0 {
			return err
		}
		return errors.Join(err, d.save())
	}
	return d.finish()
}
