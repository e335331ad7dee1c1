package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Error is the server's report about a request that failed.
type Error struct {
	Type    string // the name of SkyPilot's exception, or "" for a call that was refused
	Message string
	Status  int // of HTTP
}

func (e *Error) Error() string {
	if e.Type == "" {
		return fmt.Sprintf("SkyPilot answered %d: %s", e.Status, e.Message)
	}
	return fmt.Sprintf("SkyPilot: %s: %s", e.Type, e.Message)
}

// Kind is the class of an error.
type Kind int

const (
	KindOther    Kind = iota
	KindCapacity      // no machines now; the same request can succeed later
	KindQuota         // the account's quota is exceeded
	KindSetup         // the machines are there and could not be prepared
	KindAuth          // a login or a cloud's credentials are missing or refused
	KindInvalid       // no server would ever accept the request
	KindEnded         // the request was cancelled, or the server restarted; its effects so far remain
)

// kinds maps names of exceptions, regardless of their messages.
var kinds = map[string]Kind{
	"ResourcesUnavailableError":         KindCapacity,
	"KubeAPIUnreachableError":           KindCapacity,
	"ClusterSetUpError":                 KindSetup,
	"CommandError":                      KindSetup,
	"CommandFailureException":           KindSetup,
	"FetchClusterInfoError":             KindSetup,
	"NoCloudAccessError":                KindAuth,
	"InvalidCloudCredentials":           KindAuth,
	"CloudUserIdentityError":            KindAuth,
	"ClusterOwnerIdentityMismatchError": KindAuth,
	"PermissionDeniedError":             KindAuth,
	"NoWorkspaceAccessError":            KindAuth,
	"ApiServerAuthenticationError":      KindAuth,
	"InvalidSkyPilotConfigError":        KindInvalid,
	"InvalidClusterNameError":           KindInvalid,
	"InvalidCloudConfigs":               KindInvalid,
	"NotSupportedError":                 KindInvalid,
	"ResourcesMismatchError":            KindInvalid,
	"UserRequestRejectedByPolicy":       KindInvalid,
	"ValueError":                        KindInvalid,
	"RequestCancelled":                  KindEnded,
	"RequestInterruptedError":           KindEnded,
	"RequestNotFound":                   KindEnded, // of this package
}

// KindOf classifies an error. KindOther is the kind of errors that are not an *Error.
func KindOf(err error) Kind {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return KindOther
	}
	if e.Type == "" {
		switch e.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			return KindAuth
		case http.StatusBadRequest, http.StatusUnprocessableEntity:
			return KindInvalid
		}
		return KindOther
	}
	kind := kinds[e.Type]
	if kind != KindCapacity {
		return kind
	}
	// SkyPilot has one exception for all of these.
	message := strings.ToLower(e.Message)
	switch {
	case strings.Contains(message, "quota"):
		return KindQuota
	case strings.Contains(message, "is not enabled"):
		return KindAuth
	case strings.Contains(message, "catalog does not contain"):
		return KindInvalid
	}
	return kind
}

// NoSuchCluster reports whether err means that the server has no cluster of that name.
func NoSuchCluster(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Type == "ClusterDoesNotExist"
}

// unreachableError means that no answer arrived. The server might have received the request.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string {
	if asked, ok := errors.AsType[*url.Error](e.err); ok {
		if u, err := url.Parse(asked.URL); err == nil {
			return fmt.Sprintf("SkyPilot's API server at %s://%s does not answer: %v", u.Scheme, u.Host, asked.Err)
		}
	}
	return "SkyPilot's API server does not answer: " + e.err.Error()
}
func (e *unreachableError) Unwrap() error { return e.err }

// unreachable returns the error of a broken exchange, or the cause if the caller ended it.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return &unreachableError{err}
}

// Unreachable reports whether err means that the server is away or overloaded, so that the same call can
// succeed later. The server can have received the request all the same.
func Unreachable(err error) bool {
	if _, ok := errors.AsType[*unreachableError](err); ok {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	away := []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return ok && slices.Contains(away, e.Status)
}

func loginError(status int) error {
	return &Error{Type: "ApiServerAuthenticationError", Message: "the server wants a login; log in with: sky api login", Status: status}
}

// colors are the escape sequences of terminals.
var colors = lazyregexp.New("\x1b\\[[0-9;]*m")

// decodeError reads an error's body: {"detail": text, a list of errors in the request, or a failed
// request}.
func decodeError(status int, body []byte) error {
	if status == http.StatusUnauthorized {
		return loginError(status)
	}
	var envelope struct {
		Detail json.RawMessage `json:"detail"`
	}
	var failed answer
	var exception struct{ Type, Message string }
	if json.Unmarshal(body, &envelope) == nil &&
		json.Unmarshal(envelope.Detail, &failed) == nil &&
		json.Unmarshal([]byte(failed.Error), &exception) == nil && exception.Type != "" {
		return &Error{exception.Type, colors().ReplaceAllString(exception.Message, ""), status}
	}
	message := string(envelope.Detail)
	if envelope.Detail == nil {
		message = string(body)
	}
	var text string
	if json.Unmarshal(envelope.Detail, &text) == nil && text != "" {
		message = text
	}
	// The refused content is repeated there, and can be long.
	if len(message) > 1000 {
		message = message[:1000] + "..."
	}
	if status == http.StatusForbidden {
		message += "; log in with: sky api login"
	}
	return &Error{"", strings.ToValidUTF8(message, ""), status}
}
