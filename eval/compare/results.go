package compare

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// AreResults reports whether all names denote files of results that this program wrote as JSON or CSV.
func AreResults(o *options.Options, names []string) bool {
	r := logReader{options: o}
	for _, name := range names {
		file, err := r.openFile(name)
		if err != nil {
			return false
		}
		head := make([]byte, plan.LogHead)
		n, _ := io.ReadFull(file, head) // a short file has an error
		file.Close()
		if !report.IsResults(head[:n]) {
			return false
		}
	}
	return len(names) > 0
}

// ReadResults reads files of results that this program wrote. A solution in several files has their names.
func ReadResults(o *options.Options, names []string) (*Logs, error) {
	out := &Logs{Of: strings.Join(names, ", "), Results: &report.Results{Schema: report.Schema, Cells: []report.Cell{}}}
	if len(names) > 2 {
		out.Of = text.Count(len(names), "file")
	}
	in := map[string]map[string]bool{} // files by solution
	all := make([]*report.Results, len(names))
	for i, name := range names {
		var err error
		if all[i], err = ReadResultsFile(o, name); err != nil {
			return nil, err
		}
		for k := range all[i].Cells {
			solution := all[i].Cells[k].Solution
			if in[solution] == nil {
				in[solution] = map[string]bool{}
			}
			in[solution][name] = true
		}
	}
	for i, name := range names {
		out.Results.Tasks = append(out.Results.Tasks, all[i].Tasks...)
		for _, cell := range all[i].Cells {
			if len(in[cell.Solution]) > 1 {
				cell.Solution = filepath.Clean(name) + ": " + cell.Solution
			}
			out.Results.Cells = append(out.Results.Cells, cell)
		}
	}
	if len(all) == 1 {
		out.Results.Run = all[0].Run
	}
	return out, nil
}

// ReadResultsFile reads a file of results that this program wrote as JSON or CSV.
func ReadResultsFile(o *options.Options, name string) (*report.Results, error) {
	r := logReader{options: o}
	file, err := r.openFile(name)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	defer file.Close()
	results, err := report.DecodeFile(file)
	if err != nil {
		err = fmt.Errorf("%s: not an output of `fevalgraph results --format json` or csv: %w", name, err)
		return nil, exit.With(exit.Usage, err)
	}
	return results, nil
}
