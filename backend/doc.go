// Package backend defines where programs run: a Backend opens Sessions, workspaces in which commands run and
// from which files are collected. A Sandbox runs single programs under exact limits, and a JudgeServer
// judges whole submissions.
//
//	s, err := b.Open(ctx, backend.Spec{Name: "node", Inputs: inputs})
//	defer s.Close(ctx)
//	exit, err := s.Exec(ctx, backend.Command{Argv: []string{"./run.sh"}, Timeout: time.Minute})
//	report, err := s.Collect(ctx, "report.json")
//
// A Backend has an Identity, which enters keys. Capabilities describe what it can do beyond running
// commands; callers do not assert its type. Package backendtest is the suite that every backend passes.
//
// # Errors
//
// An error means that the infrastructure failed, so the work can be tried again. Whatever a program does
// is reported as an Exit, never as an error, so a verdict never depends on the backend. Before a bad Exit
// becomes a verdict, Verify checks that the machine worked; ErrSpoiled marks errors that programs of the
// session can have caused. A PreemptedError means that a machine was lost, an AbsentError that a device is
// missing, a ToolError that a program is missing, and a SettingError that the user must fix an attribute.
//
// # Crashes
//
// Registry lists sessions before any part of them exists, in a file that is locked while its run lives.
// Reap ends the processes and removes the files of dead runs, if the entries are proven to be the user's.
package backend
