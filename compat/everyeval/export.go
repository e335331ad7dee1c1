// Package everyeval writes results as records of Every Eval Ever.
package everyeval

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Benchmark returns the export.
func Benchmark() plan.Benchmark { return plan.Benchmark{Name: "every_eval_ever", Export: export} }

const schemaVersion = "0.3.0"

// unknown is the schema's word for what results do not say.
const unknown = "unknown"

type details map[string]string

// aggregate is the record of a solution on a backend.
type aggregate struct {
	Schema    string  `json:"schema_version"`
	ID        string  `json:"evaluation_id"`
	Retrieved string  `json:"retrieved_timestamp"`
	Source    details `json:"source_metadata"`
	Model     struct {
		Name      string  `json:"name"`
		ID        string  `json:"id"`
		Developer string  `json:"developer"`
		Details   details `json:"additional_details"`
	} `json:"model_info"`
	Library struct {
		Name    string  `json:"name"`
		Version string  `json:"version"`
		Details details `json:"additional_details"`
	} `json:"eval_library"`
	Results  []result  `json:"evaluation_results"`
	Detailed *detailed `json:"detailed_evaluation_results,omitempty"`
}

type result struct {
	ID     string `json:"evaluation_result_id"`
	Name   string `json:"evaluation_name"`
	Source struct {
		Dataset string `json:"dataset_name"`
		Type    string `json:"source_type"`
	} `json:"source_data"`
	Metric struct {
		ID    string  `json:"metric_id"`
		Unit  string  `json:"metric_unit"`
		Lower bool    `json:"lower_is_better"`
		Type  string  `json:"score_type"`
		Min   float64 `json:"min_score"`
		Max   float64 `json:"max_score"`
	} `json:"metric_config"`
	Score struct {
		Score   float64 `json:"score"`
		Details details `json:"details"`
	} `json:"score_details"`
}

type detailed struct {
	Format    string `json:"format"`
	Path      string `json:"file_path"`
	Algorithm string `json:"hash_algorithm"`
	Checksum  string `json:"checksum"`
	Rows      int    `json:"total_rows"`
}

// sample is a cell that counts. The schema has samples of an agent without its messages only as an empty list.
type sample struct {
	Schema      string `json:"schema_version"`
	ID          string `json:"evaluation_id"`
	Model       string `json:"model_id"`
	Name        string `json:"evaluation_name"`
	Result      string `json:"evaluation_result_id"`
	Sample      string `json:"sample_id"`
	Interaction string `json:"interaction_type"`
	Input       struct {
		Raw       string   `json:"raw"`
		Reference []string `json:"reference"`
	} `json:"input"`
	Output      *struct{}  `json:"output"`
	Messages    []struct{} `json:"messages"`
	Attribution []struct{} `json:"answer_attribution"`
	Evaluation  struct {
		Score   float64 `json:"score"`
		Correct bool    `json:"is_correct"`
	} `json:"evaluation"`
	Metadata details `json:"metadata"`
}

// metric is a result of the records: of problems with pass rules, or of problems with scores.
type metric struct {
	name, unit string
	max        float64
	scored     bool
	value      func(*verdict.Sample) (float64, bool)
	mean       func([]verdict.Sample) float64
}

var metrics = []metric{
	{"solved", "proportion", 1, false, verdict.PassValue, func(all []verdict.Sample) float64 { return verdict.PassAt(all, 1).Value }},
	{"score", "points", 100, true, verdict.ScoreValue, func(all []verdict.Sample) float64 { return verdict.BestOf(all, 1).Value }},
}

// export writes an aggregate and the samples of each solution on each backend, in the layout of the format's data store.
func export(_ context.Context, e plan.Export) error {
	var order [][2]string
	cells := map[[2]string][]*report.Cell{}
	for i := range e.Results.Cells {
		c := &e.Results.Cells[i]
		key := [2]string{c.Solution, c.Backend}
		if cells[key] == nil {
			order = append(order, key)
		}
		cells[key] = append(cells[key], c)
	}
	return outdir.Export(e.Dir, "every_eval_ever "+e.Suite, func(out *outdir.Dir) error {
		w := writer{e: &e, out: out, cellOf: e.Cells()}
		for _, key := range order {
			if err := w.write(cells[key]); err != nil {
				return fmt.Errorf("the records of %s on %s: %w", key[0], key[1], err)
			}
		}
		return nil
	})
}

type writer struct {
	e      *plan.Export
	out    *outdir.Dir
	cellOf func(*report.Cell) *plan.Cell
}

// write writes the records of the cells of a solution on a backend, if any of them counts.
func (w *writer) write(cells []*report.Cell) error {
	a := w.aggregate(cells[0])
	var rows bytes.Buffer
	n := 0
	for _, m := range metrics {
		r, samples := w.result(a, m, cells)
		if len(samples) == 0 {
			continue
		}
		a.Results = append(a.Results, r)
		for i := range samples {
			line, err := json.Marshal(&samples[i])
			if err != nil {
				return err
			}
			rows.Write(append(line, '\n'))
			n++
		}
	}
	if n == 0 {
		return nil
	}
	dir := path.Join("data", portable(w.e.Suite), portable(a.Model.Developer), portable(strings.TrimPrefix(a.Model.ID, a.Model.Developer+"/")))
	id := uuid(w.e.Suite, cells[0].Solution, cells[0].Backend)
	sum := sha256.Sum256(rows.Bytes())
	a.Detailed = &detailed{Format: "jsonl", Path: path.Join(dir, id+"_samples.jsonl"), Algorithm: "sha256", Checksum: hex.EncodeToString(sum[:]), Rows: n}
	text, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return err
	}
	if err := w.out.Write(filepath.Join(w.e.Dir, filepath.FromSlash(a.Detailed.Path)), rows.Bytes()); err != nil {
		return err
	}
	return w.out.Write(filepath.Join(w.e.Dir, filepath.FromSlash(path.Join(dir, id+".json"))), append(text, '\n'))
}

// aggregate returns the record of a cell's solution, without results. The solution is the model, unless it has a label
// that names one.
func (w *writer) aggregate(c *report.Cell) *aggregate {
	a := &aggregate{Schema: schemaVersion, Retrieved: created(w.e.Results.Run), Results: []result{}}
	a.Model.ID = cmp.Or(c.Labels["model"], c.Solution)
	a.Model.Name = a.Model.ID
	a.Model.Developer = unknown
	if developer, _, ok := strings.Cut(a.Model.ID, "/"); ok && developer != "" {
		a.Model.Developer = developer
	}
	a.Model.Details = details{"deployment_type": unknown, "model_availability": unknown, "solution": c.Solution}
	for name, value := range c.Labels {
		a.Model.Details["label."+name] = value
	}
	a.ID = strings.Join([]string{w.e.Suite, a.Model.ID, c.Solution, c.Backend, a.Retrieved}, "/")
	a.Source = details{"source_name": "fevalgraph", "source_type": "evaluation_run", "source_organization_name": unknown, "evaluator_relationship": "other"}
	a.Library.Name, a.Library.Version = "fevalgraph", unknown
	a.Library.Details = details{"run": w.e.Results.Run, "backend": c.Backend}
	return a
}

// result returns a metric's mean over the problems and the samples that it is of. The format has no sample without a
// score: cells without a verdict are in its details.
func (w *writer) result(a *aggregate, m metric, cells []*report.Cell) (r result, samples []sample) {
	r.ID, r.Name = m.name, w.e.Suite
	r.Source.Dataset, r.Source.Type = w.e.Suite, "other"
	r.Metric.ID, r.Metric.Unit, r.Metric.Type, r.Metric.Max = "fevalgraph."+m.name, m.unit, "continuous", m.max
	r.Score.Details = details{}
	var counted []verdict.Sample
	for _, c := range cells {
		s := c.Sample()
		if s.Scored() != m.scored {
			continue
		}
		value, ok := m.value(&s)
		if !ok {
			r.Score.Details["no_verdict."+c.Problem+"#"+strconv.Itoa(c.Repeat)] = string(c.Status)
			continue
		}
		row := sample{Schema: schemaVersion, ID: a.ID, Model: a.Model.ID, Name: w.e.Suite, Result: m.name, Sample: c.Problem, Interaction: "agentic",
			Messages: []struct{}{}, Attribution: []struct{}{}, Metadata: w.provenance(c)}
		row.Input.Reference = []string{}
		row.Evaluation.Score, row.Evaluation.Correct = value, s.Solved()
		samples, counted = append(samples, row), append(counted, s)
	}
	r.Score.Score = m.mean(counted)
	return r, samples
}

// provenance names, by digest, what was judged and the verdict on it, and the key of what judged it: it covers the tests, the
// program and its settings.
func (w *writer) provenance(c *report.Cell) details {
	out := details{"epoch": strconv.Itoa(c.Repeat), "status": string(c.Status)}
	cell := w.cellOf(c)
	if cell == nil {
		return out
	}
	for i := range cell.Checkpoints {
		cc := &cell.Checkpoints[i]
		of := "checkpoint." + cc.Checkpoint.Name + "."
		if key, digest, ok := plan.StoredVerdict(w.e.Run, cc); ok {
			out[of+"key"], out[of+"verdict"] = key.String(), digest.String()
		}
		if tree, ok := w.e.Plan.SubmissionTree(w.e.Run, cell, cc); ok {
			out[of+"submission"] = tree.String()
		}
	}
	return out
}

// created returns the time of a run in seconds since 1970, "0" if its id does not have it.
func created(run string) string {
	const form = "20060102-150405"
	t, err := time.Parse(form, run[:min(len(run), len(form))])
	if err != nil {
		return "0"
	}
	return strconv.FormatInt(t.Unix(), 10)
}

// portable returns a name as a component of a path that the format's data store accepts.
func portable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x20 || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, name)
	stem, _, _ := strings.Cut(name, ".")
	switch upper := strings.ToUpper(stem); {
	case name == "", name == "data", strings.HasSuffix(name, "."), strings.HasSuffix(name, " "),
		upper == "CON", upper == "PRN", upper == "AUX", upper == "NUL",
		len(upper) == 4 && (strings.HasPrefix(upper, "COM") || strings.HasPrefix(upper, "LPT")):
		return "_" + name + "_"
	}
	return name
}

// uuid returns a name of the form that the format demands, version 4, made of parts.
func uuid(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return outdir.UUID(4, sum[:])
}
