package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// place puts one input into the work directory; see backend.Input. It replaces
// symlinks of earlier inputs, and never follows them.
func (w *Workspace) place(ctx context.Context, in backend.Input) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	at, err := Relative(in.Path)
	if err != nil {
		return err
	}
	target := w.inputPath(at)
	if err := makeParents(w.root, target); err != nil {
		return err
	}
	isFile := in.Tree.IsZero()
	if isFile && at == "." {
		return errors.New("a file cannot be the workspace")
	}
	if isFile || in.Replace {
		if err := w.removeContent(at); err != nil {
			return err
		}
	}
	if isFile {
		err = writeFile(w.root, target, in.Content)
	} else {
		err = cache.PlaceTree(ctx, w.store, in.Tree, w.root, target)
	}
	if err == nil {
		err = w.distribute(at)
	}
	if err != nil || w.owner == nil {
		return err
	}
	return w.giveAway(target)
}

// giveAway changes the owner of target and of the directories above it.
func (w *Workspace) giveAway(target string) error {
	for dir := path.Dir(target); strings.HasPrefix(dir+"/", w.top(target)+"/"); dir = path.Dir(dir) {
		if err := w.root.Lchown(dir, w.owner.UID, w.owner.GID); err != nil {
			return err
		}
	}
	return fs.WalkDir(w.root.FS(), target, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return w.root.Lchown(name, w.owner.UID, w.owner.GID)
	})
}

// makeParents creates the directories above target. It replaces symlinks and
// files there: later inputs win.
func makeParents(root *os.Root, target string) error {
	dir := ""
	for element := range strings.SplitSeq(path.Dir(target), "/") {
		dir = path.Join(dir, element)
		info, err := root.Lstat(dir)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			err = root.Remove(dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := root.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// writeFile creates a file with mode 0644, regardless of the umask. The path
// must not exist.
func writeFile(root *os.Root, name string, content []byte) error {
	const mode = 0o644
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	return errors.Join(err, f.Close())
}
