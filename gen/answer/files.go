package answer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a solution in an answer.
const (
	MaxFiles = 1000
	MaxBytes = 16 << 20 // of all files together
)

// File is a file of a solution.
type File struct {
	Path    string // relative to the solution's directory, with slashes, and clean
	Content string
}

// Files returns the files after an answer, which changes the existing ones, sorted by path. unnamed is the
// path of code that has no name; "" refuses such code. The note reports a choice between several blocks, and
// the error why the answer is unusable, both for users.
func Files(text, unnamed string, before []File) (files []File, note string, err error) {
	s, err := read(text)
	if err != nil {
		if errors.Is(err, errNoCode) && isDiff(text) {
			err = errDiff
		}
		return nil, "", err
	}
	for _, f := range before {
		s.files[f.Path] = f.Content
	}
	if err := s.addBlocks(unnamed); err != nil {
		return nil, "", err
	}
	files, err = s.check()
	return files, s.note, err
}

// Only returns the block of code for a path, under any name, as the only file of a solution. See Files for
// note and error.
func Only(text, path string) (files []File, note string, err error) {
	s, err := read(text)
	if err == nil {
		err = s.choose(s.blocks, path)
	}
	if err != nil {
		return nil, "", err
	}
	files, err = s.check()
	return files, s.note, err
}

var (
	errNoCode = errors.New("the answer has no fenced code")
	errNoEnd  = errors.New("the last block of code in the answer has no end")
)

// read finds the blocks of code of an answer.
func read(text string) (*solution, error) {
	const byteOrderMark = "\ufeff"
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), byteOrderMark)
	blocks, open, err := fences(withoutPrefilled(text))
	switch {
	case err != nil:
		return nil, err
	case open != nil && (len(blocks) == 0 || open.name != ""):
		return nil, errNoEnd
	case len(blocks) == 0:
		return nil, errNoCode
	case open != nil && strings.TrimSpace(open.text) == "":
		open = nil // a fence too many
	}
	return &solution{blocks: blocks, open: open, files: map[string]string{}}, nil
}

// solution is the files so far.
type solution struct {
	blocks []block
	open   *block // the last one, if it has no end; unnamed
	files  map[string]string
	note   string // reports a choice between several blocks
}

var errDiff = errors.New("the answer has a diff instead of whole files")

func (s *solution) addBlocks(unnamed string) error {
	var rest []block
	for _, b := range s.blocks {
		var err error
		switch {
		case b.isDiff():
			err = errDiff
		case b.name != "":
			err = s.write(b.name, b.text)
		default:
			rest = append(rest, b)
		}
		if err != nil {
			return err
		}
	}
	if len(rest) < len(s.blocks) {
		return nil // an unnamed block is an example, or a call of the code
	}
	return s.choose(rest, unnamed)
}

// choose writes the last block in the language of a path, or else the last one whose language is unknown, or else
// the only one. A block without an end that could be the one is an error.
func (s *solution) choose(blocks []block, path string) error {
	if path == "" {
		return errors.New("the answer names no file")
	}
	wanted := languageOf(path)
	what := "in " + wanted
	fit := filter(blocks, func(b *block) bool { return b.in(wanted) })
	tagged := len(fit) > 0
	if !tagged {
		fit, what = filter(blocks, (*block).untagged), "without a language"
	}
	if len(fit) == 0 {
		fit, what = blocks, ""
	}
	chosen := fit[len(fit)-1]
	switch {
	case s.open != nil && (s.open.in(wanted) || !tagged):
		return errNoEnd
	case what == "" && len(fit) > 1:
		return fmt.Errorf("the answer has %d blocks of code, and none is in %s", len(fit), wanted)
	case strings.TrimSpace(chosen.text) == "":
		return errors.New("the code in the answer is empty")
	case len(fit) > 1:
		s.note = fmt.Sprintf("the answer has %d blocks of code %s; the last one is used", len(fit), what)
	case s.open != nil:
		s.note = "the answer ends with a block of code without an end; it is ignored"
	}
	return s.write(path, chosen.text)
}

func filter(blocks []block, keep func(*block) bool) (kept []block) {
	for i := range blocks {
		if keep(&blocks[i]) && strings.TrimSpace(blocks[i].text) != "" {
			kept = append(kept, blocks[i])
		}
	}
	return kept
}

func (s *solution) write(path, content string) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	s.files[path] = content
	return nil
}

// check returns the solution, if it can be written unchanged on every system.
func (s *solution) check() ([]File, error) {
	if len(s.files) > MaxFiles {
		return nil, fmt.Errorf("the solution has %d files, more than %d", len(s.files), MaxFiles)
	}
	var files []File
	size := 0
	for path, content := range s.files {
		files = append(files, File{path, content})
		size += len(content)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if size > MaxBytes {
		return nil, fmt.Errorf("the solution has %d bytes, more than %d", size, MaxBytes)
	}
	// Directories and files must not share a name, nor two files that differ only in the case of letters.
	seen := map[string]string{}
	for _, f := range files {
		seen[strings.ToLower(f.Path)] = f.Path
	}
	if len(seen) < len(files) {
		return nil, errors.New("two files of the answer differ only in upper and lower case")
	}
	for _, f := range files {
		for i, c := range f.Path {
			if c != '/' {
				continue
			}
			if other, taken := seen[strings.ToLower(f.Path[:i])]; taken {
				return nil, fmt.Errorf("the answer has a file %q and a file %q below it", other, f.Path)
			}
		}
	}
	return files, nil
}
