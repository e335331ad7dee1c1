package eval

import (
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Reference is how a solution that a problem ships did.
type Reference struct {
	Problem string         `json:"problem"`
	Wanted  float64        `json:"wanted"`
	Score   *float64       `json:"score"` // null when it has none
	Status  verdict.Status `json:"status"`
	Reached bool           `json:"reached"`
	Message *string        `json:"message"`
}

// ShipsReference reports whether any problem ships a solution.
func ShipsReference(cfg *lang.Config) bool {
	for _, problem := range cfg.Problems {
		if problem.Reference != nil {
			return true
		}
	}
	return false
}

// CompareReferences compares scores with what problems state of the solutions that
// they ship. Missed is how many fall short. Results of a configuration that ships
// none may be nil.
func CompareReferences(cfg *lang.Config, results *report.Results) (all []Reference, missed int) {
	for _, problem := range cfg.Problems {
		if problem.Reference == nil {
			continue
		}
		r := Reference{Problem: problem.Name, Wanted: problem.Reference.Score, Status: verdict.Skipped}
		for _, cell := range results.Cells {
			if cell.Problem == problem.Name && cell.Solution == lang.ReferenceName {
				r.Score, r.Status, r.Message = cell.Score, cell.Status, cell.Message
			}
		}
		r.Reached = r.Status == verdict.Success && r.Score != nil && *r.Score >= r.Wanted
		if !r.Reached {
			missed++
		}
		all = append(all, r)
	}
	return all, missed
}
