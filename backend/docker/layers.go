package docker

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// ErrOtherLayers means that saved layers have an unknown format.
var ErrOtherLayers = errors.New("unknown format of saved layers")

// Layers returns digests of the layers of the one image that a daemon saved: an archive of layer archives,
// and of metadata about them.
func Layers(saved io.Reader) ([]string, error) {
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
		return nil, ErrOtherLayers
	}
	var digests []string
	for _, name := range manifest[0].Layers {
		name = path.Clean(name)
		digest := layers[cmp.Or(links[name], name)]
		if digest == "" {
			return nil, ErrOtherLayers
		}
		digests = append(digests, digest)
	}
	return digests, nil
}

// readLayer returns the digest of a layer, or "" if the entry is not a layer.
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

// entryText returns the relevant metadata of an entry, without times. Its size delimits the content that
// follows.
func entryText(h *tar.Header) string {
	var attributes []string
	for _, name := range slices.Sorted(maps.Keys(h.PAXRecords)) {
		if strings.HasPrefix(name, "SCHILY.xattr.") {
			attributes = append(attributes, fmt.Sprintf("%q", name+"="+h.PAXRecords[name]))
		}
	}
	return fmt.Sprintf("%q %c %q %o %d:%d %d,%d %d %v", h.Name, h.Typeflag, h.Linkname, h.Mode, h.Uid, h.Gid, h.Devmajor, h.Devminor, h.Size, attributes)
}
