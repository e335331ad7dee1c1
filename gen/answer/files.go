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
// path of code that has no name; "" refuses such code. The error explains to the user why the answer is
// unusable.
func Files(text, unnamed string, before []File) ([]File, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	blocks, err := fences(text)
	if err != nil {
		return nil, err
	}
	s := &solution{files: map[string]string{}}
	for _, f := range before {
		s.files[f.Path] = f.Content
	}
	switch {
	case len(blocks) > 0:
		err = s.addBlocks(blocks, unnamed)
	case isDiff(text):
		err = errDiff
	default:
		err = errors.New("the answer has no fenced code")
	}
	if err != nil {
		return nil, err
	}
	return s.check()
}

// Only returns the longest block of code in an answer, under any name, as the only file of a solution.
func Only(text, path string) ([]File, error) {
	blocks, err := fences(strings.ReplaceAll(text, "\r\n", "\n"))
	if err != nil {
		return nil, err
	}
	for i := range blocks {
		blocks[i] = block{text: blocks[i].text}
	}
	if len(blocks) == 0 {
		return nil, errors.New("the answer has no fenced code")
	}
	s := &solution{files: map[string]string{}}
	if err := s.writeLongest(blocks, path); err != nil {
		return nil, err
	}
	return s.check()
}

// solution is the files so far.
type solution struct{ files map[string]string }

var errDiff = errors.New("the answer has a diff instead of whole files")

func (s *solution) addBlocks(blocks []block, unnamed string) error {
	var rest []block
	for _, b := range blocks {
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
	if len(rest) < len(blocks) {
		return nil // an unnamed block is an example, or a call of the code
	}
	return s.writeLongest(rest, unnamed)
}

// writeLongest takes the longest of blocks without names.
func (s *solution) writeLongest(blocks []block, path string) error {
	longest := slices.MaxFunc(blocks, func(a, b block) int { return len(a.text) - len(b.text) })
	switch {
	case path == "":
		return errors.New("the answer names no file")
	case strings.TrimSpace(longest.text) == "":
		return errors.New("the code in the answer is empty")
	}
	return s.write(path, longest.text)
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
