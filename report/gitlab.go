package report

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// gitlabIssue is an entry of GitLab's code quality report. A merge request compares it with the report of its
// target: new entries show as degradations, missing ones as improvements.
type gitlabIssue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"` // major; blocker where nothing was judged
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// writeGitLab writes an issue for each checkpoint that did not pass and each task that is not done.
func writeGitLab(w io.Writer, r *Results, _ Options) error {
	issues := []gitlabIssue{}
	for _, row := range rowsOf(r) {
		if solved(row.checkpoint) {
			continue
		}
		name := rowName(row, true)
		sum := sha256.Sum256([]byte(name))
		issue := gitlabIssue{Description: text.Line(name+": "+firstSaid(row), 500), CheckName: "fevalgraph " + string(outcomeOf(row.checkpoint)),
			Fingerprint: hex.EncodeToString(sum[:]), Severity: "major"}
		if outcomeOf(row.checkpoint) == verdict.OutcomeBroken {
			issue.Severity = "blocker"
		}
		issue.Location.Path, issue.Location.Lines.Begin = "fevalgraph.hcl", 1
		issues = append(issues, issue)
	}
	for _, t := range r.undone() {
		sum := sha256.Sum256([]byte(t.Address()))
		issue := gitlabIssue{Description: text.Line(t.Address()+": "+t.note(), 500), CheckName: "fevalgraph " + t.Outcome,
			Fingerprint: hex.EncodeToString(sum[:]), Severity: "major"}
		if t.Verdict() == verdict.OutcomeBroken {
			issue.Severity = "blocker"
		}
		issue.Location.Path, issue.Location.Lines.Begin = "fevalgraph.hcl", 1
		issues = append(issues, issue)
	}
	return encoder(w).Encode(issues)
}
