package pytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// collect stores the outputs of the run.
func (r *Run) collect(ctx context.Context, w *graph.Work, s *session.Session, key proof.Key, ran *session.Printed, facts exitFacts, printed []byte) (graph.Outcome, error) {
	reports, err := r.reports(ctx, w, s, key, &facts)
	if err != nil {
		return graph.Outcome{}, err
	}
	took := s.Timing(ran.Exit)
	if took.Import, err = r.imports(ctx, w); err != nil {
		return graph.Outcome{}, err
	}
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	k.JSON(OutputExit, facts)
	k.JSON(OutputTiming, took)
	for _, name := range []string{OutputReport, OutputCTRF} {
		if content, ok := reports[name]; ok {
			k.Keep(name, content)
		}
	}
	if setup := slices.Concat(s.Setup(), printed); len(setup) > 0 {
		k.Keep(OutputSetup, setup)
	}
	k.Keep(OutputLog, ran.Output)
	if ran.TimedOut {
		k.Outcome.Class = cache.ClassTimeout
		k.Outcome.Message = fmt.Sprintf("pytest exceeded the session limit of %v", r.SessionTimeout)
	}
	return k.Outcome, k.Err
}

// reports returns the reports that pytest's own process wrote, by output, with secrets masked. It adds the
// names of the others to facts.
func (r *Run) reports(ctx context.Context, w *graph.Work, session backend.Session, key proof.Key, facts *exitFacts) (map[string][]byte, error) {
	seal, err := readSeal(ctx, session, key)
	if err != nil {
		return nil, err
	}
	reports := map[string][]byte{}
	for _, report := range []struct{ name, path string }{{OutputReport, jsonReportPath}, {OutputCTRF, ctrfPath}} {
		want, sealed := seal[path.Base(report.path)]
		content, err := readReport(ctx, session, report.path, want, len(r.Env.Secrets()) > 0)
		switch {
		case errors.Is(err, errReportTooLarge):
			facts.TooLarge = append(facts.TooLarge, path.Base(report.path))
		case errors.Is(err, errUnsealed), isAbsent(err) && sealed:
			facts.Unsealed = append(facts.Unsealed, path.Base(report.path))
		case isAbsent(err):
			fmt.Fprintf(w.Log, "%s: %v\n", report.path, err)
		case err != nil:
			return nil, fmt.Errorf("fetching %s: %w", report.path, err)
		default:
			reports[report.name] = backend.RedactJSON(content, r.Env.Secrets(), reportFacts...)
		}
	}
	if len(facts.Unsealed) > 0 {
		clear(reports) // a text missing in one report may be missing in the other
	}
	return reports, nil
}

// maxReport limits the size of a report. If tests import the submission, it can write the report, and
// verdicts on its tests take several times as much memory.
const maxReport = 16 << 20

var errReportTooLarge = fmt.Errorf("the report is larger than %d MiB", maxReport>>20)

// isAbsent reports whether a report does not exist, as opposed to an unreadable one.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, backend.ErrNotRegular)
}

// readReport reads the report of a seal. If it is too large, long texts are shortened, unless secrets must
// be masked, since a part of a secret could remain.
func readReport(ctx context.Context, session backend.Session, name string, want sealedReport, whole bool) ([]byte, error) {
	read := func(shortened func(io.Reader) ([]byte, error)) ([]byte, error) {
		f, err := session.Collect(ctx, name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r := newSealedReader(f)
		content, err := shortened(r)
		if err == nil && len(content) > maxReport {
			err = errReportTooLarge
		}
		if err == nil {
			err = r.verify(want)
		}
		return content, err
	}
	content, err := read(func(f io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxReport+1)) })
	for _, limit := range stringLimits {
		if whole || !errors.Is(err, errReportTooLarge) {
			break
		}
		content, err = read(func(f io.Reader) ([]byte, error) { return shortenStrings(f, limit) })
	}
	return content, err
}
