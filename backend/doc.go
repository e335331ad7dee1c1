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
// commands; no caller asserts its type. Package backendtest is the suite that every backend passes.
//
// # Errors
//
// An error means that the machinery broke, so the work can be tried again. What a program did, however bad,
// is an Exit. Nothing else is mapped, so a verdict never depends on the backend. Verify reports whether the
// machine did its part before a bad Exit becomes a verdict; ErrSpoiled marks errors that programs of the
// session can have caused. A PreemptedError is the loss of a machine, an AbsentError the lack of a device, a
// ToolError the lack of a program, and a SettingError an attribute that the user must fix.
//
// # Crashes
//
// Registry lists sessions before anything of them exists, in a file that is locked while its run lives. Reap
// ends and removes what dead runs left, as far as the entries are proven to be the user's.
package backend
