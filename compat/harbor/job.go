package harbor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// jobReader makes a solution of each trial of a job.
func jobReader() lang.Reader {
	return lang.Reader{
		Owner: "solution", Collect: collect,
		Attribute: lang.AttributeSchema{Name: "harbor_job", Type: lang.TypeText, Path: true,
			Doc: "Directory of a job that Harbor recorded. Each finished trial is a solution, with the labels agent, model, dataset, attempt, cost, tokens and cause. Replaces problem, source and missing."},
	}
}

// collect reads the trials of a job.
func collect(files *lang.ReaderFiles, dir string, problems []lang.Candidate) ([]lang.Collected, diag.List) {
	trials, told := readJob(files, dir)
	answers := newAnswers(files, problems)
	attempts := attemptsOf(trials)
	var all []lang.Collected
	unknown, ambiguous := map[string]int{}, map[string]*answer{}
	for _, t := range trials {
		switch a := answers.find(t.TaskName); {
		case a == nil:
			unknown[t.TaskName]++
		case len(a.names) > 1:
			ambiguous[t.TaskName] = a
		default:
			all = append(all, a.collected(files, t, attempts[t]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ambiguous)) {
		told = append(told, diag.Diagnostic{Code: "ambiguous-task", Summary: "Ambiguous task",
			Detail: fmt.Sprintf("The problems %s are all the task %s, so its trials cannot be assigned.", strings.Join(ambiguous[name].names, " and "), name),
			Hint:   "grade a job with one version of a task at a time"})
	}
	if len(unknown) > 0 {
		n := 0
		for _, trials := range unknown {
			n += trials
		}
		told = append(told, warning("unknown-task", "Trials without a problem",
			fmt.Sprintf("No problem here is the task of %s of %s: %s.", text.Count(n, "trial"), filepath.Base(dir), diag.Some(slices.Sorted(maps.Keys(unknown)))),
			"declare a problem whose harbor block reads the task, or whose name is the task's"))
	}
	return all, told
}

// readJob reads the finished trials of a job, by name.
func readJob(files *lang.ReaderFiles, dir string) ([]*trial, diag.List) {
	names, err := files.Directories(dir)
	if err != nil {
		return nil, diag.List{{Code: "unreadable-file", Summary: "Unreadable job", Detail: strings.TrimSuffix(err.Error(), ".") + "."}}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !files.Present(filepath.Join(dir, name, "config.json")) && !files.Present(filepath.Join(dir, name, "result.json"))
	})
	if len(names) == 0 {
		return nil, diag.List{{Code: "no-trials", Summary: "Job without trials", Detail: fmt.Sprintf("No directory in %q has a config.json or result.json of a trial.", dir)}}
	}
	var trials []*trial
	var unfinished, jobs []string
	var told diag.List
	for _, name := range names {
		t, err := readTrial(files, filepath.Join(dir, name))
		switch {
		case strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
			told = append(told, warning("bad-trial", "Trial left out", fmt.Sprintf("%q cannot be the name of a solution.", name), ""))
		case errors.Is(err, errUnfinished):
			if isJob(files, filepath.Join(dir, name)) {
				jobs = append(jobs, name)
			} else {
				unfinished = append(unfinished, name)
			}
		case err != nil:
			told = append(told, warning("bad-trial", "Trial left out", fmt.Sprintf("%s is left out: %v.", name, err), ""))
		default:
			trials = append(trials, t)
		}
	}
	if len(jobs) > 0 && len(trials) == 0 {
		return nil, diag.List{{Code: "no-trials", Summary: "Job without trials", Detail: fmt.Sprintf("%q contains jobs, not trials. Name each of them: %s.", dir, diag.Some(jobs))}}
	}
	if unfinished = append(unfinished, jobs...); len(unfinished) > 0 {
		told = append(told, warning("unfinished-trial", "Trials that are not finished",
			fmt.Sprintf("Of %s, %s left out as unfinished: %s.", filepath.Base(dir), text.Count(len(unfinished), "trial")+map[bool]string{true: " is", false: " are"}[len(unfinished) == 1], diag.Some(unfinished)),
			"they are read once Harbor has written their result.json"))
	}
	return trials, told
}

// isJob reports whether a directory contains results of trials.
func isJob(files *lang.ReaderFiles, dir string) bool {
	names, err := files.Directories(dir)
	return err == nil && slices.ContainsFunc(names, func(name string) bool { return files.Present(filepath.Join(dir, name, "result.json")) })
}

// attemptsOf counts the trials of a task by one agent and model, from 1, in the order in
// which they began.
func attemptsOf(trials []*trial) map[*trial]int {
	order := slices.Clone(trials)
	slices.SortStableFunc(order, func(a, b *trial) int { return cmp.Compare(a.StartedAt, b.StartedAt) })
	type maker struct{ task, agent, model string }
	met, number := map[maker]int{}, map[*trial]int{}
	for _, t := range order {
		labels := t.labels()
		who := maker{t.TaskName, labels["agent"], labels["model"]}
		met[who]++
		number[t] = met[who]
	}
	return number
}

// unusable returns why a trial cannot be graded, with what Harbor recorded about that.
func (t *trial) unusable(step string, err error) string {
	why := "the trial " + filepath.Base(t.dir)
	if step != "" {
		why += ", step " + step + ","
	}
	why = fmt.Sprintf("%s cannot be graded again: %v", why, err)
	for _, e := range t.exceptions() {
		return why + "; Harbor recorded " + e.why()
	}
	return why
}

func warning(code, summary, detail, hint string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: summary, Detail: detail, Hint: hint}
}
