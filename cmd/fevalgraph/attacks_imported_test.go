//go:build unix

package main

import (
	"os"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// raisedInProcess are attacks on a grader or tests that import the submission, which succeed in their process, as
// SECURITY.md documents.
var raisedInProcess = map[string][]string{
	"imported": {
		"ends_iteration", "equals_all", "equals_all_in_list", "equals_all_numbers", "exits", "exits_later", "exports_builtins", "hides_cases",
		"lays_bytecode", "patches_all", "patches_json", "patches_print", "prints_at_exit", "reads_answers", "reads_memory", "replaces_module", "writes_descriptor",
	},
	"tested": {
		"empties_tests", "equals_all", "equals_all_in_list", "equals_all_numbers", "patches_pytest", "patches_reports", "reads_memory",
		"replaces_tests", "set_up_replaces",
	},
}

// TestImportedAttacks judges modules that cheat what imports them: in its own process, which holds
// nothing, and in another. TestAttacks has the latter in containers.
func TestImportedAttacks(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skip("needs Python; make attacks has it")
	}
	for problem := range raisedInProcess {
		t.Run(problem+"/direct", func(t *testing.T) {
			for _, cell := range importedAttacks(t, problem, "direct") {
				outcome := attackOutcome(cell, 0)
				t.Logf("%s: %s", cell.Solution, outcome)
				if slices.Contains(raisedInProcess[problem], cell.Solution) && outcome != "raised" {
					t.Errorf("%s: %s in the process of what judges it, so it shows nothing: %s", cell.Solution, outcome, attackMessage(cell))
				}
				checkImport(t, cell, verdict.ImportInProcess)
			}
		})
		t.Run(problem+"/separate", func(t *testing.T) {
			for _, cell := range importedAttacks(t, problem, "separate") {
				if outcome := attackOutcome(cell, 0); outcome != "held" {
					t.Errorf("%s: %s: %s", cell.Solution, outcome, attackMessage(cell))
				}
				checkImport(t, cell, verdict.ImportSeparate)
			}
		})
	}
}

// importedAttacks judges the attacks of a problem with a value of its attribute import.
func importedAttacks(t *testing.T, problem, setting string) []report.Cell {
	t.Helper()
	cells := judgeAttacks(t, func(of, _ string) (judged, contained bool) { return of == problem, false }, []string{"FEVALGRAPH_VAR_import=" + setting})
	if len(cells) <= len(raisedInProcess[problem]) {
		t.Fatalf("%d cells", len(cells))
	}
	return cells
}

// checkImport checks where a submission ran according to results, if it ran.
func checkImport(t *testing.T, cell report.Cell, want string) {
	t.Helper()
	if got := cell.Checkpoints[0].Import; got != want && cell.Checkpoints[0].Class != verdict.Refused {
		t.Errorf("%s: results report %q, want %q", cell.Solution, got, want)
	}
}
