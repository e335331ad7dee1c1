package logs

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/maruel/natural"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// Members of an archive. A run that did not end has neither header nor all summaries, but those of the parts that it wrote.
const (
	startMember   = "_journal/start.json"
	headerMember  = "header.json"
	summaryMember = "summaries.json"
	partPrefix    = "_journal/summaries/"
)

// readArchive reads the header and the summaries of samples: their messages stay compressed.
func readArchive(file *os.File, header, samples func(*pyjson.Reader) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil {
		return fmt.Errorf("the archive is damaged or cut off: %w", err)
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(32<<20)))
	members := map[string]*zip.File{}
	for _, f := range z.File {
		if members[f.Name] != nil {
			return fmt.Errorf("the archive has two members %q", f.Name)
		}
		members[f.Name] = f
	}
	head := cmp.Or(members[headerMember], members[startMember])
	if head == nil {
		return errors.New("the archive has no header.json")
	}
	if err := readMember(head, header); err != nil {
		return err
	}
	if f := members[summaryMember]; f != nil {
		return readMember(f, samples)
	}
	for _, name := range slices.SortedFunc(maps.Keys(members), natural.Compare) {
		if strings.HasPrefix(name, partPrefix) {
			if err := readMember(members[name], samples); err != nil {
				return err
			}
		}
	}
	return nil
}

// readMember reads a member to its end, where its checksum is verified.
func readMember(f *zip.File, read func(*pyjson.Reader) error) error {
	in, err := f.Open()
	if err == nil {
		defer in.Close()
		r := pyjson.NewReader(in, pyjson.Options{})
		err = r.Only(func() error { return read(r) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}
