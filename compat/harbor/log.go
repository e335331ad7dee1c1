package harbor

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// logFormat is the result.json of a trial. A job is a directory of trials.
var logFormat = plan.LogFormat{Name: recorder, Title: "the result of a trial of Harbor", Holds: holdsTrial, Read: readLog, Unfinished: unfinishedTrial}

func holdsTrial(head []byte) bool {
	keys := pyjson.Keys(head)
	return keys["task_name"] && keys["trial_name"]
}

// unfinishedTrial reports whether a file is the configuration of a trial without a result.
func unfinishedTrial(path string, head []byte) bool {
	if filepath.Base(path) != "config.json" || !pyjson.Keys(head)["trial_name"] {
		return false
	}
	path = filepath.Join(filepath.Dir(path), "result.json")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
	}
	result, err := os.Open(path)
	if err != nil {
		return false // the error is that of reading it
	}
	defer result.Close()
	head = make([]byte, plan.LogHead)
	n, _ := result.ReadAt(head, 0) // io.EOF for a short file
	return !holdsTrial(head[:n])   // it was cut off
}

// readLog reads a trial as an attempt at its task.
func readLog(file *os.File) ([]*plan.Log, error) {
	t := &trial{}
	if err := decodeRecord(file, t); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	labels := t.labels()
	l := &plan.Log{Name: strings.Trim(labels["agent"]+" "+labels["model"], " "), Labels: map[string]string{}, Higher: map[string]bool{"reward": true}}
	for _, name := range []string{"agent", "model", "dataset"} {
		if labels[name] != "" {
			l.Labels[name] = labels[name]
		}
	}
	a := plan.LogAttempt{Problem: t.TaskName, Repeat: 1, Class: verdict.Judged, Values: map[string]float64{}}
	if t.Verifier != nil {
		for name, reward := range t.Verifier.Rewards {
			if reward != nil {
				a.Values[name] = *reward
			}
		}
	}
	l.Metrics = slices.Sorted(maps.Keys(a.Values))
	if at := slices.Index(l.Metrics, "reward"); at > 0 {
		l.Metrics = slices.Insert(slices.Delete(l.Metrics, at, at+1), 0, "reward")
	}
	if all := t.exceptions(); len(all) > 0 {
		a.Message = text.Line(all[0].why(), maxWhy)
	}
	if !t.valid() {
		note := "an attempt without a valid reward, which has no verdict: Harbor counts 0"
		if a.Class = t.lost(); a.Class != verdict.NotJudged {
			note = "an attempt without a reward that its agent or solution ended, counted as 0"
		}
		a.Values, l.Notes = nil, []string{note}
		if l.Metrics == nil { // it would hide the metrics of other files
			l.Metrics = []string{"reward"}
		}
	}
	l.Attempts = []plan.LogAttempt{a}
	return []*plan.Log{l}, nil
}

// check returns an error if a result is not that of a trial which ended.
func (t *trial) check() error {
	switch {
	case t.Schema != nil && *t.Schema != trialSchema:
		return fmt.Errorf("its result.json has schema_version %d; this version reads %d", *t.Schema, trialSchema)
	case t.TaskName == "":
		return errors.New("its result.json names no task")
	case t.FinishedAt == "":
		return errUnfinished
	}
	return nil
}
