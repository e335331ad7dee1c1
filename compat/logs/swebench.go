package logs

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// swebench reads files of SWE-bench's harness: reports of a run and of instances, and predictions, which have no verdict.
var swebench = format{
	name: "swebench", title: "a report or predictions of SWE-bench", read: readSWEBench, metric: resolved,
	holds: func(head []byte) bool {
		keys := pyjson.Keys(head)
		if keys["total_instances"] && keys["submitted_instances"] {
			return true
		}
		for key := range keys {
			if strings.HasSuffix(key, ".patch_successfully_applied") || strings.HasSuffix(key, ".patch_is_None") {
				return true
			}
		}
		return predictionsIn(head) != noPredictions
	},
	notes: []note{
		{"prediction", "prediction", "without verdicts, which are in the report of a run"},
		{"no patch", "prediction", "without a patch"},
		{"error_ids", "instance", "ended by an error, counted as not resolved"},
		{"empty_patch_ids", "instance", "without a patch, counted as not resolved"},
		{"ambiguous_failure_ids", "instance", "not resolved for an ambiguous cause, counted as not resolved"},
		{"infra_failure_ids", "instance", "not resolved for a likely failure of infrastructure: SWE-bench counts them; here they have no verdict"},
		{"incomplete_ids", "instance", "not submitted: SWE-bench counts them as not resolved; here they are left out"},
	},
}

const resolved = "resolved"

// predictionForm is how a file has predictions.
type predictionForm int

const (
	noPredictions predictionForm = iota
	onLines                      // an object on each line
	inList                       // an array
	byInstance                   // an object by instance, as SWE-agent writes it
)

// predictionsIn returns the form of the predictions in a file that begins with head.
func predictionsIn(head []byte) predictionForm {
	found := onLines
	if trimmed := bytes.TrimLeft(head, " \t\r\n"); bytes.HasPrefix(trimmed, []byte("[")) {
		head, found = trimmed[1:], inList
	}
	keys := pyjson.Keys(head)
	if keys["model_patch"] || keys["instance_id"] && keys["model_name_or_path"] {
		return found
	}
	for key := range keys {
		if found == onLines && strings.HasSuffix(key, ".model_patch") {
			return byInstance
		}
	}
	return noPredictions
}

// instanceLists lists the members of a run's report that record how instances ended. A completed instance is resolved or
// not. An error counts as not resolved, as in SWE-bench: a patch that does not apply is one.
var instanceLists = map[string]entry{
	"resolved_ids":    {values: []value{{resolved, 1}}},
	"unresolved_ids":  {values: []value{{resolved, 0}}},
	"empty_patch_ids": {class: verdict.NoSubmission},
	"error_ids":       {class: verdict.NoReport, message: "ended by an error"},
}

func readSWEBench(f *file, in *os.File) error {
	head := make([]byte, plan.LogHead)
	n, _ := in.ReadAt(head, 0) // io.EOF for a short file
	form := predictionsIn(head[:n])
	if form == onLines {
		return pyjson.Lines(in, f.prediction)
	}
	var infrastructure []string
	r := pyjson.NewReader(in, pyjson.Options{})
	err := r.Only(func() error {
		switch form {
		case inList:
			return r.Array(func(int) error { return f.prediction(r) })
		case byInstance:
			return r.Object(func(string) error { return f.prediction(r) })
		}
		return r.Object(func(key string) error {
			_, listed := instanceLists[key]
			switch {
			case listed:
				return r.Array(func(int) error {
					var id string
					if err := r.Value(&id); err != nil {
						return err
					}
					return f.instance(id, key)
				})
			case key == "incomplete_ids", key == "ambiguous_failure_ids":
				return r.Array(func(int) error {
					f.count(key, "")
					return r.Skip()
				})
			case key == "infra_failure_ids":
				return r.Value(&infrastructure)
			case strings.HasSuffix(key, "_ids"), strings.HasSuffix(key, "_instances"),
				slices.Contains([]string{"schema_version", "failure_reasons", "unstopped_containers", "unremoved_images"}, key):
				return r.Skip()
			}
			var i struct {
				None     bool  `json:"patch_is_None"`
				Exists   *bool `json:"patch_exists"`
				Resolved *bool `json:"resolved"`
			}
			if err := r.Value(&i); err != nil {
				return err
			}
			switch {
			case i.None || i.Exists != nil && !*i.Exists:
				return f.instance(key, "empty_patch_ids")
			case i.Resolved == nil:
				return errors.New("want resolved, true or false")
			case *i.Resolved:
				return f.instance(key, "resolved_ids")
			}
			return f.instance(key, "unresolved_ids")
		})
	})
	if err == nil && len(f.logs) == 0 && form == noPredictions {
		err = errors.New("it lists no instance that was submitted; reports older than schema_version 2 have counts only")
	}
	if err != nil {
		return err
	}
	for _, id := range infrastructure { // SWE-bench supposes that the machine is why these are not resolved
		at, known := f.attempts[part{f.logs[0], id, 1, ""}]
		if !known {
			continue
		}
		switch a := &f.logs[0].Attempts[at]; {
		case a.Class == verdict.NoReport:
			f.counts[[2]string{"error_ids", ""}]--
			fallthrough
		case a.Class == verdict.Judged && a.Values[resolved] == 0:
			f.count("infra_failure_ids", "")
			a.Class, a.Values, a.Message = verdict.NotJudged, nil, "a likely failure of infrastructure"
		}
	}
	return nil
}

// instance adds an instance of a list.
func (f *file) instance(id, list string) error {
	e := instanceLists[list]
	e.problem, e.repeat, e.cluster = id, 1, repository(id)
	f.count(list, "")
	_, err := f.add(e)
	return err
}

// repository returns the repository of an instance, OWNER__NAME-NUMBER; "" if the id has another form.
func repository(id string) string {
	if at := strings.LastIndexByte(id, '-'); at > 0 && strings.Contains(id[:at], "__") {
		return id[:at]
	}
	return ""
}

// prediction reads a patch for an instance.
func (f *file) prediction(r *pyjson.Reader) error {
	var one struct {
		ID    string `json:"instance_id"`
		Model string `json:"model_name_or_path"`
		Patch string `json:"model_patch"`
	}
	if err := r.Value(&one); err != nil {
		return err
	}
	if one.ID == "" || one.Model == "" {
		return errors.New("want instance_id and model_name_or_path")
	}
	l, err := f.log([]string{"model"}, []string{one.Model})
	if err != nil {
		return err
	}
	l.Unjudged = true
	e := entry{log: l, problem: one.ID, cluster: repository(one.ID), repeat: 1, class: verdict.NotRun, message: "a prediction that was not evaluated"}
	if one.Patch == "" {
		e.message = "a prediction without a patch"
		f.count("no patch", "")
	}
	f.count("prediction", "")
	_, err = f.add(e)
	return err
}
