package pytest

import (
	"context"
	"errors"
	"fmt"
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
	for _, name := range []string{OutputStages, OutputReport, OutputCTRF} {
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

// reports returns the reports that pytest's own process wrote, by output, with secrets masked. It adds to facts why the
// plugin's report is unusable.
func (r *Run) reports(ctx context.Context, w *graph.Work, s backend.Session, key proof.Key, facts *exitFacts) (map[string][]byte, error) {
	proofs, err := readSeal(ctx, s)
	if err != nil {
		return nil, err
	}
	reports := map[string][]byte{}
	for _, report := range []struct{ name, path string }{{OutputStages, stagesPath}, {OutputReport, jsonReportPath}, {OutputCTRF, ctrfPath}} {
		content, err := readSealed(ctx, s, key, proofs, report.path)
		unusable := ""
		switch {
		case errors.Is(err, session.ErrLarge):
			unusable = fmt.Sprintf("it is larger than %d MiB", maxReport>>20)
		case errors.Is(err, errUnsealed):
			unusable = err.Error()
		case err != nil:
			return nil, fmt.Errorf("fetching %s: %w", report.path, err)
		case content != nil:
			reports[report.name] = backend.RedactJSON(content, r.Env.Secrets(), reportFacts...)
		}
		if unusable != "" {
			fmt.Fprintf(w.Log, "%s is not kept: %s\n", report.path, unusable)
		}
		if report.name == OutputStages {
			facts.Unusable = unusable
		}
	}
	return reports, nil
}
