package swebench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// prediction is a patch for an instance. It has no verdict: that is in the report of a run.
type prediction struct {
	ID    string  `json:"instance_id"`
	Model string  `json:"model_name_or_path"`
	Patch *string `json:"model_patch"`
}

// form is how a file has predictions.
type form int

const (
	noPredictions form = iota
	lines              // an object on each line
	list               // an array
	mapping            // an object by instance, as SWE-agent writes it
)

// formOf returns the form of the predictions in a file that begins with head.
func formOf(head []byte) form {
	found := lines
	if trimmed := bytes.TrimLeft(head, " \t\r\n"); bytes.HasPrefix(trimmed, []byte("[")) {
		head, found = trimmed[1:], list
	}
	keys := pyjson.Keys(head)
	if keys["model_patch"] || keys["instance_id"] && keys["model_name_or_path"] {
		return found
	}
	for key := range keys {
		if found == lines && strings.HasSuffix(key, ".model_patch") {
			return mapping
		}
	}
	return noPredictions
}

// predictions accumulates the predictions of a file.
type predictions struct {
	logs []*plan.Log
	of   map[string]*plan.Log // by model
	seen map[string]bool
	none map[string]int // without a patch, by model
	size plan.LogSize
}

// readPredictions reads a log for each model, whose attempts were not evaluated.
func readPredictions(file *os.File, f form) ([]*plan.Log, error) {
	p := &predictions{of: map[string]*plan.Log{}, seen: map[string]bool{}, none: map[string]int{}}
	err := p.read(file, f)
	if err == nil && len(p.logs) == 0 {
		err = errors.New("it has no predictions")
	}
	for _, l := range p.logs {
		note := text.Count(len(l.Attempts), "prediction")
		if n := p.none[l.Name]; n > 0 {
			note += fmt.Sprintf(", %d without a patch", n)
		}
		l.Notes = []string{note + "; verdicts are in the report of a run"}
	}
	return p.logs, err
}

func (p *predictions) read(file *os.File, f form) error {
	if f == lines {
		return pyjson.Lines(file, p.add)
	}
	r := pyjson.NewReader(file, pyjson.Options{})
	return r.Only(func() error {
		if f == list {
			return r.Array(func(int) error { return p.add(r) })
		}
		return r.Object(func(string) error { return p.add(r) })
	})
}

// add reads a prediction.
func (p *predictions) add(r *pyjson.Reader) error {
	var one prediction
	if err := r.Value(&one); err != nil {
		return err
	}
	switch {
	case one.ID == "" || one.Model == "":
		return errors.New("want instance_id and model_name_or_path")
	case p.seen[one.ID]:
		return fmt.Errorf("the instance %s is duplicated", text.Line(one.ID, 80))
	case len(p.seen) == maxInstances:
		return fmt.Errorf("more than %d instances", maxInstances)
	}
	if err := p.size.Names(one.ID, one.Model); err != nil {
		return err
	}
	p.seen[one.ID] = true
	l := p.of[one.Model]
	if l == nil {
		l = &plan.Log{Name: one.Model, Labels: map[string]string{"model": one.Model}, Metrics: []string{metric}, Higher: map[string]bool{metric: true}, Unjudged: true}
		p.of[one.Model] = l
		p.logs = append(p.logs, l)
	}
	a := plan.LogAttempt{Problem: one.ID, Cluster: repository(one.ID), Repeat: 1, Class: verdict.NotRun, Message: "a prediction that was not evaluated"}
	if one.Patch == nil || *one.Patch == "" {
		a.Message = "a prediction without a patch"
		p.none[one.Model]++
	}
	l.Attempts = append(l.Attempts, a)
	return nil
}
