package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// place puts one input into the work directory; see backend.Input. Symlinks
// that earlier inputs brought along give way and are never followed.
func (s *session) place(ctx context.Context, in backend.Input) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	at := path.Clean(in.Path)
	if !fs.ValidPath(at) || strings.Contains(at, "\x00") {
		return fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	target := path.Join(workDir, at)
	if err := makeParents(s.root, target); err != nil {
		return err
	}
	isFile := in.Tree.IsZero()
	if isFile && at == "." {
		return errors.New("a file cannot be the workspace")
	}
	if isFile || in.Replace {
		if err := s.root.RemoveAll(target); err != nil {
			return err
		}
	}
	if isFile {
		return writeFile(s.root, target, in.Content)
	}
	return cache.PlaceTree(ctx, s.b.store, in.Tree, filepath.Join(s.base, filepath.FromSlash(target)))
}

// makeParents makes every directory above target a real one. Whatever else
// stands there, a symlink or a file, gives way: later inputs win.
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

// writeFile makes a file with mode 0644, whatever the umask is, where nothing
// is.
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
