package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
)

const (
	mostWalked = 200_000   // visited entries of a directory
	mostRead   = 2_000_000 // attempts of all files
	mostNamed  = 8         // sides listed in an error
	mostNotes  = 20        // listed notes
)

// logReader reads files of other programs, as sides of a comparison.
type logReader struct {
	options  *options.Options
	asFormat string // format of all files; "" detects it for each
	logs     []*sideLog
	sides    int // number of arguments
	begin    int // index of the last side in logs
	files    int
	sum      int // number of attempts
	// unfinished are the directories of attempts without a result that find met.
	unfinished []string
	notes      []note
}

// note is a remark of a file's reader.
type note struct{ side, file, text string }

// sideLog holds the attempts of a contender on a side.
type sideLog struct {
	*plan.Log
	side     string         // argument
	own      string         // the contender's name in its files
	repeats  map[string]int // attempts at each problem
	repeated int            // attempts at problems that an earlier file contains
	unnamed  bool           // own is made of the name of a file
}

// AreLogs reports whether a name denotes a file that looks like a log of another program, or a directory with
// such files but without a project. In a project, a plain name denotes a problem or a solution even if a
// directory has the same name; ./NAME denotes the directory.
func AreLogs(o *options.Options, names []string) bool {
	inProject := o.InProject()
	r := logReader{options: o}
	for _, name := range names {
		if o.HasDir(name) && (options.IsProject(o.Path(name)) || inProject && !strings.ContainsRune(name, filepath.Separator)) {
			continue
		}
		if files, err := r.find(name, 1); err == nil && len(files) > 0 {
			return true
		}
	}
	return false
}

// logFile is a file with the format that it looks like.
type logFile struct {
	name   string
	format *plan.LogFormat
}

// find returns the files of a name in a supported format: the file itself, or up to most files in the
// directory.
func (r *logReader) find(name string, most int) (files []logFile, err error) {
	info, err := os.Stat(r.options.Path(name))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		format, err := r.format(name)
		return []logFile{{name, format}}, err
	}
	walked := 0
	err = filepath.WalkDir(r.options.Path(name), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if walked++; walked > mostWalked {
			return fmt.Errorf("%s has more than %d files", name, mostWalked)
		}
		if e.IsDir() && walked > 1 && strings.HasPrefix(e.Name(), ".") {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() {
			return nil
		}
		if format, err := r.format(path); err == nil {
			files = append(files, logFile{path, format})
		}
		if len(files) == most {
			return fs.SkipAll
		}
		return nil
	})
	return files, err
}

// openFile opens a regular file. Opening a pipe would wait for a writer.
func (r *logReader) openFile(name string) (*os.File, error) {
	path := r.options.Path(name)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("not a file")}
	}
	return os.Open(path)
}

// format returns the format that a file looks like, among the requested ones.
func (r *logReader) format(name string) (*plan.LogFormat, error) {
	file, err := r.openFile(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	formats := slices.DeleteFunc(plan.LogFormats(r.options.Benchmarks), func(f plan.LogFormat) bool { return r.asFormat != "" && f.Name != r.asFormat })
	f, unfinished, err := plan.FormatOf(file, formats)
	if unfinished {
		r.unfinished = append(r.unfinished, filepath.Base(filepath.Dir(name)))
	}
	if f != nil || err != nil {
		return f, err
	}
	return nil, fmt.Errorf("%s: unknown format; choose one with --as: %s", name, strings.Join(LogFormats(r.options), ", "))
}

// side reads the files of an argument.
func (r *logReader) side(name string) error {
	r.sides, r.begin = r.sides+1, len(r.logs)
	formats := plan.LogFormats(r.options.Benchmarks)
	at := slices.IndexFunc(formats, func(f plan.LogFormat) bool { return f.Name == r.asFormat })
	if r.asFormat != "" && at < 0 {
		return text.Unknown("format", r.asFormat, LogFormats(r.options))
	}
	if info, err := os.Stat(r.options.Path(name)); err == nil && !info.IsDir() && at >= 0 {
		return r.read(name, name, &formats[at])
	}
	r.unfinished = nil
	files, err := r.find(name, -1)
	if err != nil {
		return err
	}
	if n := len(r.unfinished); n > 0 && len(files) > 0 {
		r.notes = append(r.notes, note{name, name, text.Count(n, "attempt") + " without a result, which have no verdict: " + text.Line(text.Some(r.unfinished, 4), 200)})
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: no file of a known format; known are %s", name, strings.Join(LogFormats(r.options), ", "))
	}
	begin, damaged := len(r.logs), error(nil)
	for _, file := range files {
		err := r.read(name, file.name, file.format)
		if unreadable := (*unreadableError)(nil); errors.As(err, &unreadable) && len(files) > 1 { // it does not hide the others
			damaged = cmp.Or(damaged, err)
			r.notes = append(r.notes, note{name, file.name, "left out: " + unreadable.why})
		} else if err != nil {
			return err
		}
	}
	if len(r.logs) == begin {
		return damaged
	}
	r.joinUnjudged()
	again := 0
	for _, l := range r.logs[r.begin:] {
		again += l.repeated
	}
	if again > 0 {
		r.notes = append(r.notes, note{name, name, fmt.Sprintf("%s at problems that several of its files contain; they count as additional attempts", text.Count(again, "attempt"))})
	}
	return nil
}

// unreadableError is the error of a file that its format's reader rejects.
type unreadableError struct{ name, why string }

func (e *unreadableError) Error() string { return e.name + ": " + e.why }

// read adds the attempts in a file to its side.
func (r *logReader) read(side, name string, format *plan.LogFormat) error {
	file, err := r.openFile(name)
	if err != nil {
		return err
	}
	defer file.Close()
	logs, err := format.Read(file)
	if err != nil {
		return &unreadableError{name, fmt.Sprintf("not readable as %s: %s", format.Title, text.Line(err.Error(), 300))}
	}
	r.files++
	for _, l := range logs {
		unnamed := l.Name == ""
		if unnamed && side == name {
			l.Name = plan.DefaultName(name)
		} else if unnamed { // several files can belong to the same contender
			l.Name = filepath.Base(side)
		}
		if r.sum += len(l.Attempts); r.sum > mostRead {
			return fmt.Errorf("%s: the files have more than %d attempts together", name, mostRead)
		}
		r.add(side, name, l).unnamed = unnamed
	}
	return nil
}

// joinUnjudged joins the answers on a side with the verdicts that another of its files has on them.
func (r *logReader) joinUnjudged() {
	logs := r.logs[r.begin:]
	if len(logs) != 2 {
		return
	}
	answers, verdicts := logs[0], logs[1]
	if verdicts.Unjudged {
		answers, verdicts = verdicts, answers
	}
	if !answers.Unjudged || verdicts.Unjudged || !verdicts.unnamed {
		return
	}
	verdicts.Name, verdicts.own, verdicts.Labels, verdicts.unnamed = answers.Name, answers.own, answers.Labels, false
	for _, a := range answers.Attempts {
		if verdicts.repeats[a.Problem] == 0 {
			verdicts.repeats[a.Problem] = 1
			verdicts.Attempts = append(verdicts.Attempts, a)
		}
	}
	r.logs = append(r.logs[:r.begin], verdicts)
}

// add merges a log with the attempts of the same contender on its side.
func (r *logReader) add(side, name string, l *plan.Log) *sideLog {
	at := r.begin + slices.IndexFunc(r.logs[r.begin:], func(o *sideLog) bool { return o.Name == l.Name })
	if at < r.begin {
		at = len(r.logs)
		r.logs = append(r.logs, &sideLog{Log: &plan.Log{Name: l.Name, Labels: l.Labels, Unjudged: l.Unjudged}, side: side, own: l.Name, repeats: map[string]int{}})
	}
	to := r.logs[at]
	for name, value := range to.Labels {
		if l.Labels[name] != value {
			delete(to.Labels, name)
		}
	}
	for metric, higher := range l.Higher {
		if to.Higher == nil {
			to.Higher = map[string]bool{}
		}
		to.Higher[metric] = higher
	}
	for _, metric := range l.Metrics {
		if !slices.Contains(to.Metrics, metric) {
			to.Metrics = append(to.Metrics, metric)
		}
	}
	after := make(map[string]int, len(l.Attempts)) // of to.repeats, which l's own attempts do not count for
	for _, a := range l.Attempts {
		if to.repeats[a.Problem] > 0 {
			to.repeated++
		}
		a.Repeat += to.repeats[a.Problem]
		after[a.Problem] = max(after[a.Problem], a.Repeat)
		to.Attempts = append(to.Attempts, a)
	}
	maps.Copy(to.repeats, after)
	for _, said := range l.Notes {
		r.notes = append(r.notes, note{side, name, said})
	}
	return to
}

// remarks returns the notes as lines. Equal notes of a side are merged.
func (r *logReader) remarks() []string {
	var lines []string
	files := map[[2]string][]string{}
	for _, n := range r.notes {
		files[[2]string{n.side, n.text}] = append(files[[2]string{n.side, n.text}], n.file)
	}
	for _, n := range r.notes {
		of := files[[2]string{n.side, n.text}]
		switch {
		case of[0] != n.file:
		case len(of) == 1:
			lines = append(lines, n.file+": "+n.text)
		default:
			lines = append(lines, fmt.Sprintf("%s: %s, in each of %d files", n.side, n.text, len(of)))
		}
	}
	if more := len(lines) - mostNotes; more > 0 {
		lines = append(lines[:mostNotes], fmt.Sprintf("%d more notes", more))
	}
	return lines
}

// name makes names of logs unique: equal names of contenders are replaced by the names of their sides or, if
// these are not unique either, by paths.
func (r *logReader) name() {
	unique := func() bool {
		seen := map[string]bool{}
		for _, l := range r.logs {
			seen[l.Name] = true
		}
		return len(seen) == len(r.logs)
	}
	several := map[string]int{}
	for _, l := range r.logs {
		several[l.side]++
	}
	for _, name := range []func(string) string{filepath.Base, func(path string) string { return path }} {
		if unique() {
			return
		}
		for _, l := range r.logs {
			if l.Name = name(l.side); several[l.side] > 1 {
				l.Name += ": " + l.own
			}
		}
	}
}
