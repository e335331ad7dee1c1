package options

import (
	"time"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Notice is a remark that is no error. Its type says what it is about.
type Notice interface{ notice() }

type (
	// Warnings are what loading a configuration or a file of pairs found.
	Warnings struct{ Diagnostics diag.List }
	// InvalidProblems are the mistakes of problems that are among the targets.
	InvalidProblems struct{ Diagnostics diag.List }
	// StateForeign says that a file of the state directory is ignored, since the key of the call
	// does not prove it: another user wrote it, or it came from another place. Only the first
	// of a call matters.
	StateForeign struct{ Path string }
	// ForeignRun says that a pack's record of a run does not count, since neither the user nor
	// the group signed it.
	ForeignRun struct{ File string }
	// ForeignRecords says how many records of packs neither the user nor the group signed.
	ForeignRecords struct{ Count int }
	// ForeignIgnored says for how many nodes the store has records that were ignored, since another
	// key signed them.
	ForeignIgnored struct{ Count int }
	// LockRenewed says that a lock file could not be read, and that a new one
	// takes its place.
	LockRenewed struct{ Name string }
	// LockUnhashed says that a lock file has no hashes of some pins, so that what is
	// installed for them is not checked.
	LockUnhashed struct {
		Name string
		Pins []string
	}
	// Locking says that so many requirements are being resolved for a version of Python.
	Locking struct {
		Requirements int
		Python       string
	}
	// Machines says what happens to machines that a backend launches.
	Machines struct{ Text string }
	// ClusterLeft says why a cluster, which may cost money, could not be ended.
	ClusterLeft struct{ Err error }
	// JobsReduced says that fewer nodes run at once than was asked for, because of the
	// limit on open files.
	JobsReduced struct{ Wanted, Jobs, Limit int }
	// SessionsEnded says how many sessions of earlier runs were ended.
	SessionsEnded struct{ Count int }
	// SessionLeft says why sessions of earlier runs are still there.
	SessionLeft struct{ Err error }
	// KeyMissing says why results are stored so that no later run trusts them: there is
	// no key to sign them with.
	KeyMissing struct{ Err error }
	// SessionsUnknown says why sessions of earlier runs could not be listed.
	SessionsUnknown struct{ Err error }
	// Untrusted says that a backend was not asked who it is, since that takes programs or
	// servers that the project is not trusted with; or a remote cache, by its name, for its
	// results.
	Untrusted struct {
		Cache string
		Asks  []string // all that was not done, each with its backend
	}
	// Polling says why changes are looked for from time to time only, and how often.
	Polling struct {
		Err   error
		Every time.Duration
	}
	// RemoteTrouble says what is wrong with a remote cache, of which as much is used as can be.
	RemoteTrouble struct {
		Name string
		Err  error
	}
	// RemoteSending says how many results are still to be sent to a remote cache, when that
	// takes a while.
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
func (Polling) notice()         {}
func (RemoteTrouble) notice()   {}
func (RemoteSending) notice()   {}
