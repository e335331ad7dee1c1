package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/view"
)

// The files beside unchangedFile with what only a run of a part needs.
const (
	conclusionsFile   = "conclusions"
	configurationFile = "configuration"
)

// conclusions are what the cells of a remembered run came to. Cells are numbered as
// in plan.Plan.Cells.
type conclusions struct {
	Outputs [][]cache.Output    // of the node of each cell
	Sizes   []int32             // of the cells in the run's results, in the order that they have there
	Table   *report.Table       // without its text, with which what the run showed begins
	Drawn   int                 // bytes of that text
	Status  *view.StatusDrawing // without its text; nil when there is none
}

// conclude collects the conclusions of a run of everything.
func (o *outcome) conclude(outputs [][]cache.Output, color bool) (*conclusions, error) {
	table, drawn, err := o.drawing(color)
	if err != nil {
		return nil, err
	}
	return &conclusions{Outputs: outputs, Sizes: o.encoded.Sizes(), Table: table, Drawn: drawn}, nil
}

// drawing is the table of everything without its text, which has so many bytes.
func (o *outcome) drawing(color bool) (table *report.Table, drawn int, err error) {
	if o.table == nil {
		all, err := o.whole()
		if err != nil {
			return nil, 0, err
		}
		o.table = report.DrawTable(all, color)
	}
	table = new(report.Table)
	*table, table.Text = *o.table, ""
	return table, len(o.table.Text), nil
}

// writeSummed writes a file and returns the sum that readSummed insists on.
func writeSummed(path string, content []byte) ([]byte, error) {
	sum := sha256.Sum256(content)
	return sum[:], atomicfile.Write(path, 0o600, content)
}

// readSummed reads a file that has the given sum.
func readSummed(path string, want []byte) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:], want) {
		return "", fmt.Errorf("%s is not the one that is remembered", path)
	}
	return unsafe.String(unsafe.SliceData(content), len(content)), nil
}

func (c *conclusions) write(state string) (sum []byte, err error) {
	b, err := frozen.Append(nil, c)
	if err != nil {
		return nil, err
	}
	return writeSummed(filepath.Join(state, conclusionsFile), b)
}

func readConclusions(state string, sum []byte) (*conclusions, error) {
	b, err := readSummed(filepath.Join(state, conclusionsFile), sum)
	if err != nil {
		return nil, err
	}
	c := new(conclusions)
	if err := frozen.Decode(b, c); err != nil {
		return nil, err
	}
	if c.Table == nil || len(c.Sizes) != len(c.Outputs) {
		return nil, errBadUnchanged
	}
	return c, nil
}

// writeConfiguration writes the configuration down; a sum of nil says that it has
// to be evaluated each time.
func writeConfiguration(state string, cfg *lang.Config) (sum []byte, err error) {
	if hasSecrets(cfg) {
		return nil, os.RemoveAll(filepath.Join(state, configurationFile)) // of before it had any
	}
	b, err := lang.Archive(cfg)
	if err != nil {
		return nil, nil //nolint:nilerr // it has expressions that wait for results
	}
	return writeSummed(filepath.Join(state, configurationFile), b)
}

// configuration is the one that a run is remembered of, none of whose inputs
// changed.
func (a *app) configuration(state string, u *unchanged) (*lang.Config, error) {
	if u.Configuration == nil {
		return a.load(a.langOptions())
	}
	b, err := readSummed(filepath.Join(state, configurationFile), u.Configuration)
	if err != nil {
		return nil, err
	}
	return lang.Unarchive(b)
}
