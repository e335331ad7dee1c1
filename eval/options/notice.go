package options

import (
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Notice is a remark that is not an error. Its type identifies its subject.
type Notice interface{ notice() }

type (
	// Warnings are the warnings of loading a configuration or a file of pairs.
	Warnings struct{ Diagnostics diag.List }
	// InvalidProblems are the errors of selected problems.
	InvalidProblems struct{ Diagnostics diag.List }
	// StateForeign means that a file of the state directory is ignored, since the key of the call does not
	// prove it: another user wrote it, or it was copied from elsewhere. Only the first of a call is
	// reported.
	StateForeign struct{ Path string }
	// ForeignRun means that a pack's record of a run is ignored, since neither the user nor the group signed
	// it.
	ForeignRun struct{ File string }
	// ForeignRecords counts the records of packs that neither the user nor the group signed.
	ForeignRecords struct{ Count int }
	// ForeignIgnored counts the nodes whose records in the store were ignored, since another key signed
	// them.
	ForeignIgnored struct{ Count int }
	// LockRenewed means that an unreadable lock file is replaced.
	LockRenewed struct{ Name string }
	// LockUnhashed means that a lock file has no hashes for some pins, so that the installed packages are
	// not checked.
	LockUnhashed struct {
		Name string
		Pins []string
	}
	// Locking means that Requirements are being resolved for a version of Python.
	Locking struct {
		Requirements int
		Python       string
	}
	// Machines reports a change of machines that a backend launches.
	Machines struct{ Text string }
	// ClusterLeft means that a cluster, which can cost money, could not be ended.
	ClusterLeft struct{ Err error }
	// JobsReduced means that fewer nodes run at once than requested, because of the limit on open files.
	JobsReduced struct{ Wanted, Jobs, Limit int }
	// SessionsEnded counts the sessions of earlier runs that were ended.
	SessionsEnded struct{ Count int }
	// SessionLeft means that sessions of earlier runs could not be ended.
	SessionLeft struct{ Err error }
	// KeyMissing means that no later run will trust the results, because a key to sign them with is missing.
	KeyMissing struct{ Err error }
	// SessionsUnknown means that sessions of earlier runs could not be listed.
	SessionsUnknown struct{ Err error }
	// Untrusted means that a backend was not probed, since that takes programs or servers that the project
	// is not trusted with; or, by its name, that a remote cache is not trusted for its results.
	Untrusted struct {
		Cache string
		Asks  []string // everything that was not done, with its backend
	}
	// RemoteTrouble reports a problem of a remote cache, which is used as far as possible.
	RemoteTrouble struct {
		Name string
		Err  error
	}
	// RemoteSending counts the results that are still being sent to a remote cache, if that takes a while.
	RemoteSending struct {
		Name    string
		Results int
	}
)

func (Warnings) notice()        {}
func (InvalidProblems) notice() {}
func (ForeignRun) notice()      {}
func (StateForeign) notice()    {}
func (ForeignRecords) notice()  {}
func (ForeignIgnored) notice()  {}
func (LockRenewed) notice()     {}
func (LockUnhashed) notice()    {}
func (Locking) notice()         {}
func (Machines) notice()        {}
func (ClusterLeft) notice()     {}
func (JobsReduced) notice()     {}
func (SessionsEnded) notice()   {}
func (SessionLeft) notice()     {}
func (KeyMissing) notice()      {}
func (SessionsUnknown) notice() {}
func (Untrusted) notice()       {}
func (RemoteTrouble) notice()   {}
func (RemoteSending) notice()   {}
