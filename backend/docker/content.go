package docker

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// content is what commands in containers of an image can tell of it. Encoded,
// it names the image: two builds with equal results have the same, whatever
// their IDs. Times are not part of it, of files as little as of the image; nor
// is what sessions set themselves.
type content struct {
	Recipe       int      `json:"recipe"` // raised when contents are described otherwise
	OS           string   `json:"os"`
	Architecture string   `json:"architecture"`
	Variant      string   `json:"variant,omitempty"`
	User         string   `json:"user,omitempty"`
	Env          []string `json:"env,omitempty"`
	Volumes      []string `json:"volumes,omitempty"`
	// Layers are digests of the files of each, or, with a prefix, the daemon's
	// own where it keeps them in a way that is not known here.
	Layers []string `json:"layers"`
}

const contentRecipe = 1

// content returns the encoded content of an image. The daemon has to hand over
// the whole of it for that, so that it is remembered, which is safe: an ID never
// means another image.
func (b *Backend) content(ctx context.Context, id string) ([]byte, error) {
	memory := ""
	if b.opt.Facts != "" {
		memory = filepath.Join(b.opt.Facts, snapshotTag("content", fmt.Sprint(contentRecipe), id)+".content")
		if sealed, err := os.ReadFile(memory); err == nil {
			if known, whole := cache.Unseal(sealed); whole {
				return known, nil
			}
		}
	}
	found, err := b.d.content(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading image %s: %w", id, err)
	}
	if memory != "" && !b.opt.FactsReadOnly && os.MkdirAll(b.opt.Facts, 0o755) == nil {
		_ = atomicfile.Write(memory, 0o644, cache.Seal(found)) // without it the next run reads again
	}
	return found, nil
}

func (d *Daemon) content(ctx context.Context, id string) ([]byte, error) {
	look, cancel := d.ask(ctx)
	defer cancel()
	found, err := d.api.ImageInspect(look, id)
	if err != nil {
		return nil, d.explain(err)
	}
	c := content{Recipe: contentRecipe, OS: found.Os, Architecture: found.Architecture, Variant: found.Variant}
	if found.Config != nil {
		c.User, c.Env = found.Config.User, found.Config.Env
		c.Volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
	}
	saved, err := d.api.ImageSave(ctx, []string{id})
	if err != nil {
		return nil, d.explain(err)
	}
	c.Layers, err = readSaved(saved)
	saved.Close()
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return nil, cause
	case errors.Is(err, errOtherLayers):
		c.Layers = nil
		for _, layer := range found.RootFS.Layers {
			c.Layers = append(c.Layers, "with times "+layer)
		}
	case err != nil:
		return nil, d.explain(err)
	}
	return json.Marshal(c)
}

// errOtherLayers is why saved layers cannot be read.
var errOtherLayers = errors.New("the layers are saved in an unknown way")

// readSaved returns digests of the layers of the one image that a daemon saved:
// an archive of archives, and of texts that say what these are.
func readSaved(saved io.Reader) ([]string, error) {
	layers, links := map[string]string{}, map[string]string{}
	var manifest []struct{ Layers []string }
	archive := tar.NewReader(saved)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		name := path.Clean(header.Name)
		switch {
		case header.Typeflag == tar.TypeSymlink: // equal layers are saved once
			links[name] = path.Join(path.Dir(name), header.Linkname)
		case header.Typeflag != tar.TypeReg:
		case name == "manifest.json":
			if err := json.NewDecoder(archive).Decode(&manifest); err != nil {
				return nil, err
			}
		default:
			digest, err := readLayer(archive)
			if err != nil {
				return nil, err
			}
			if digest != "" {
				layers[name] = digest
			}
		}
	}
	if len(manifest) != 1 {
		return nil, errOtherLayers
	}
	var digests []string
	for _, name := range manifest[0].Layers {
		name = path.Clean(name)
		digest := layers[cmp.Or(links[name], name)]
		if digest == "" {
			return nil, errOtherLayers
		}
		digests = append(digests, digest)
	}
	return digests, nil
}

// readLayer returns the digest of a layer, "" when it is something else.
func readLayer(r io.Reader) (string, error) {
	const block = 512
	buffered := bufio.NewReaderSize(r, 64<<10)
	if start, _ := buffered.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return "", err
		}
		buffered = bufio.NewReaderSize(unpacked, 64<<10)
	}
	start, _ := buffered.Peek(block)
	isArchive := len(start) == block && (string(start[257:262]) == "ustar" || len(bytes.Trim(start, "\x00")) == 0)
	if !isArchive {
		return "", nil
	}
	h := sha256.New()
	archive := tar.NewReader(buffered)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(h, "%s\n", entryText(header)); err != nil {
			return "", err
		}
		if _, err := io.Copy(h, archive); err != nil {
			return "", err
		}
	}
}

// entryText is what of an entry counts, without its times. Its size says where
// its bytes, which follow, end.
func entryText(h *tar.Header) string {
	var attributes []string
	for _, name := range slices.Sorted(maps.Keys(h.PAXRecords)) {
		if strings.HasPrefix(name, "SCHILY.xattr.") {
			attributes = append(attributes, fmt.Sprintf("%q", name+"="+h.PAXRecords[name]))
		}
	}
	return fmt.Sprintf("%q %c %q %o %d:%d %d,%d %d %v", h.Name, h.Typeflag, h.Linkname, h.Mode, h.Uid, h.Gid, h.Devmajor, h.Devminor, h.Size, attributes)
}
