//go:build unix

package main

import (
	"encoding/json"
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
		"ends_iteration", "equals_all", "equals_all_in_list", "equals_all_numbers", "exits", "exits_later", "lays_bytecode", "patches_all",
		"patches_json", "patches_print", "prints_at_exit", "reads_answers", "reads_memory", "replaces_module", "writes_descriptor",
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
		t.Skip("needs Python; make attack has it")
	}
	t.Parallel() // it waits for limits more than it works
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
	c := attackProject(t)
	c.env = append(c.env, "FEVALGRAPH_VAR_import="+setting)
	cells := "problem=" + problem + ",backend=local.host"
	cmd := c.command("run", "-q", "-j", "4", cells)
	_ = cmd.Run() // results contain the errors
	listing := c.command("results", "--format", "json", cells)
	_ = listing.Run()
	var results report.Results
	if err := json.Unmarshal([]byte(output(listing)), &results); err != nil {
		t.Fatalf("%v\n%s", err, output(cmd))
	}
	if len(results.Cells) <= len(raisedInProcess[problem]) {
		t.Fatalf("%d cells\n%s", len(results.Cells), output(cmd))
	}
	return results.Cells
}

// checkImport checks where a submission ran according to results, if it ran.
func checkImport(t *testing.T, cell report.Cell, want string) {
	t.Helper()
	if got := cell.Checkpoints[0].Import; got != want && cell.Checkpoints[0].Class != verdict.Refused {
		t.Errorf("%s: results report %q, want %q", cell.Solution, got, want)
	}
}
