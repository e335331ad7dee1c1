package reapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fevalgraph/fevalgraph/cache"
)

// AwayError reports that a server is unreachable or not working: the same call can succeed later.
type AwayError struct{ Err error }

func (e *AwayError) Error() string { return e.Err.Error() }
func (e *AwayError) Unwrap() error { return e.Err }

// RefusedError reports that a server refused a request, and would refuse it again.
type RefusedError struct {
	Err    error
	Rights bool // not permitted
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// BusyError reports that an engine accepts no more actions at the moment; fewer concurrent ones may be
// accepted.
type BusyError struct {
	Err  error
	Wait time.Duration // that the engine requests before another try; 0 if it does not
}

func (e *BusyError) Error() string { return "the engine refuses actions: " + e.Err.Error() }
func (e *BusyError) Unwrap() error { return e.Err }

// NoWorkersError reports that an engine has no workers for a platform.
type NoWorkersError struct {
	Platform string // name=value, with commas between; can be ""
	Err      error
}

func (e *NoWorkersError) Error() string {
	if e.Platform == "" {
		return "the engine has no workers for actions without platform properties: " + e.Err.Error()
	}
	return fmt.Sprintf("the engine has no workers for the platform %s: %v", e.Platform, e.Err)
}
func (e *NoWorkersError) Unwrap() error { return e.Err }

// MissingError reports that an action was not executed because blobs were missing: they were removed, or
// never sent.
type MissingError struct {
	Blobs []cache.Digest // empty if the engine does not list them
	Err   error
}

func (e *MissingError) Error() string {
	if len(e.Blobs) == 0 {
		return "the server lacks blobs of the action: " + e.Err.Error()
	}
	return fmt.Sprintf("the server lacks %d blobs of the action, such as %s: %v", len(e.Blobs), e.Blobs[0], e.Err)
}
func (e *MissingError) Unwrap() error { return e.Err }

// LostError reports that an action, which might have been executed, has no result: its worker or the engine
// was lost, or another client killed it. It can be executed again.
type LostError struct{ Err error }

func (e *LostError) Error() string { return "the action was lost: " + e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// fault classifies an error of a call by whether another try can help.
func fault(err error) error {
	said := status.Convert(err)
	switch said.Code() {
	case codes.OK:
		return nil
	case codes.Unauthenticated, codes.PermissionDenied:
		return &RefusedError{Err: short(said), Rights: true}
	case codes.InvalidArgument, codes.Unimplemented, codes.FailedPrecondition, codes.OutOfRange:
		return &RefusedError{Err: short(said)}
	case codes.Canceled, codes.DeadlineExceeded:
		return &AwayError{err} // the cause can be the caller's own context
	}
	return &AwayError{short(said)}
}

func short(said *status.Status) error {
	return fmt.Errorf("%s: %.200q", said.Code(), said.Message())
}

// noWorkers are the messages of engines that have no workers for a platform. The code alone does not
// distinguish it from other trouble.
var noWorkers = []string{"No workers exist", "No registered executors"}

// executionFault returns the error of an action that was not executed, or has no result.
func executionFault(said *status.Status, platform string) error {
	err := short(said)
	if slices.ContainsFunc(noWorkers, func(text string) bool { return strings.Contains(said.Message(), text) }) {
		return &NoWorkersError{platform, err}
	}
	switch said.Code() {
	case codes.ResourceExhausted:
		busy := &BusyError{Err: err}
		for _, d := range said.Details() {
			if retry, ok := d.(*errdetails.RetryInfo); ok {
				busy.Wait = retry.GetRetryDelay().AsDuration()
			}
		}
		return busy
	case codes.FailedPrecondition, codes.NotFound:
		return &MissingError{missingBlobs(said), err}
	case codes.InvalidArgument, codes.Unimplemented, codes.OutOfRange, codes.Unauthenticated, codes.PermissionDenied:
		return fault(said.Err())
	}
	return &LostError{err}
}

// missingBlobs returns the blobs that an engine names.
func missingBlobs(said *status.Status) (blobs []cache.Digest) {
	for _, d := range said.Details() {
		failure, _ := d.(*errdetails.PreconditionFailure)
		for _, v := range failure.GetViolations() {
			// The prefix with instance and digest function is optional.
			if words := strings.Split(v.GetSubject(), "/"); v.GetType() == "MISSING" && len(words) > 2 {
				if blob, err := cache.ParseDigest(strings.Join(words[len(words)-2:], "/")); err == nil {
					blobs = append(blobs, blob)
				}
			}
		}
	}
	return blobs
}
