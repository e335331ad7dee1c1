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

// raisedInProcess are the attacks on a grader that imports the submission which succeed when it
// runs in the grader's process, as SECURITY.md says.
var raisedInProcess = []string{
	"ends_iteration", "equals_all", "equals_all_in_list", "equals_all_numbers", "exits", "exits_later", "lays_bytecode", "patches_all",
	"patches_json", "patches_print", "prints_at_exit", "reads_answers", "reads_memory", "replaces_module", "writes_descriptor",
}

// TestImportedAttacks judges modules that cheat the grader that imports them: in its own process,
// which holds nothing, and in another. TestAttacks has the latter in containers.
func TestImportedAttacks(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skip("needs Python; make attack has it")
	}
	for setting, want := range map[string]string{"direct": verdict.ImportInProcess, "separate": verdict.ImportSeparate} {
		t.Run(setting, func(t *testing.T) {
			c := attackProject(t)
			c.env = append(c.env, "FEVALGRAPH_VAR_import="+setting)
			cmd := c.command("run", "-q", "-j", "4", "problem=imported,backend=local.host")
			_ = cmd.Run() // what went wrong is in the results
			listing := c.command("results", "--format", "json", "problem=imported,backend=local.host")
			_ = listing.Run()
			var results report.Results
			if err := json.Unmarshal([]byte(output(listing)), &results); err != nil {
				t.Fatalf("%v\n%s", err, output(cmd))
			}
			if len(results.Cells) <= len(raisedInProcess) {
				t.Fatalf("%d cells\n%s", len(results.Cells), output(cmd))
			}
			for _, cell := range results.Cells {
				outcome := attackOutcome(cell, 0)
				switch raised := slices.Contains(raisedInProcess, cell.Solution); {
				case setting == "separate" && outcome != "held":
					t.Errorf("%s: %s: %s", cell.Solution, outcome, attackMessage(cell))
				case setting == "direct" && raised && outcome != "raised":
					t.Errorf("%s: %s in the grader's process, so it shows nothing: %s", cell.Solution, outcome, attackMessage(cell))
				case cell.Checkpoints[0].Import != want:
					t.Errorf("%s: results say %q, not %q", cell.Solution, cell.Checkpoints[0].Import, want)
				}
			}
		})
	}
}
