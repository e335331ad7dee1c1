package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
)

// recordEnding is the suffix of the file next to an attempt's directory that records how it was made.
const recordEnding = ".json"

// maxRecord bounds its bytes.
const maxRecord = 4 << 20

// FailedEnding is the suffix of the file that replaces code that no answer had.
const FailedEnding = ".FAILED"

// record is the content of the file next to an attempt.
type record struct {
	// Labels are for the solution block: labels = jsondecode(file("….json")).labels.
	Labels      map[string]string     `json:"labels"`
	Checkpoints map[string]codeRecord `json:"checkpoints"` // by name; "" for a checkpoint without one

	text []byte // that was read
}

// codeRecord records the code of a checkpoint.
type codeRecord struct {
	Request string   `json:"request"`          // key of the answer
	Tree    string   `json:"tree,omitempty"`   // digest of the files; "" if there are none
	Failed  string   `json:"failed,omitempty"` // why files are missing
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	Cost    *float64 `json:"cost,omitempty"` // dollars; nil if unknown
}

// readRecord reads a record. A missing or damaged record is empty: files next to it then count as edited by
// hand.
func readRecord(root *os.Root, base string) record {
	var r record
	var content []byte
	info, err := root.Lstat(base + recordEnding)
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxRecord {
		content, err = root.ReadFile(base + recordEnding)
	}
	if err != nil || json.Unmarshal(content, &r) != nil || r.Checkpoints == nil {
		r = record{Checkpoints: map[string]codeRecord{}}
	}
	r.text = content
	return r
}

// label sets the labels of an attempt from the total usage of its checkpoints.
func (r *record) label(s *Step) {
	r.Labels = map[string]string{"generator": s.Generator.Name, "model": s.Generator.ModelLabel(), "attempt": strconv.Itoa(s.Attempt)}
	tokens, cost, priced := int64(0), 0.0, len(r.Checkpoints) > 0
	for _, m := range r.Checkpoints {
		tokens += m.Input + m.Output
		if priced = priced && m.Cost != nil; priced {
			cost += *m.Cost
		}
	}
	if tokens > 0 {
		r.Labels["tokens"] = strconv.FormatInt(tokens, 10)
	}
	if priced {
		r.Labels["cost"] = strconv.FormatFloat(cost, 'f', 6, 64)
	}
}

func (r *record) write(root *os.Root, base string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if bytes.Equal(text, r.text) {
		return nil // and configurations that read it have not changed
	}
	return writeFile(root, base+recordEnding, text)
}

// staging is the prefix of files that are not in place yet. Nothing else has such a name, so a call removes
// the leftovers of a killed one.
const staging = ".placing-"

// writeFile replaces a file as a whole.
func writeFile(root *os.Root, name string, content []byte) error {
	dir, file := path.Split(name)
	fresh := dir + staging + file
	if err := root.RemoveAll(fresh); err != nil { // any kind of file
		return err
	}
	if err := root.WriteFile(fresh, content, 0o644); err != nil {
		return err
	}
	return root.Rename(fresh, name)
}

// replaceDir replaces a directory by another. Either the new one is in place, or the old one still is; if
// the process is killed in between, neither is, and the next call places it again.
func replaceDir(root *os.Root, fresh, name string) error {
	old := path.Join(path.Dir(name), staging+"old-"+path.Base(name))
	if err := root.RemoveAll(old); err != nil {
		return err
	}
	if err := root.Rename(name, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.Rename(fresh, name); err != nil {
		return errors.Join(err, root.Rename(old, name))
	}
	if err := root.RemoveAll(old); err != nil {
		return fmt.Errorf("removing the previous files: %w", err)
	}
	return nil
}
