// Package model asks models: a Model answers a prompt, or its error says which of four things went
// wrong.
//
// HTTP asks an endpoint that speaks OpenAI's chat completions, as most do. Answers are streamed, so
// that a proxy which ends idle connections ends none, and a stream that was cut is not taken for an
// answer. It sends nothing again and follows no redirect: the caller decides which key is used next,
// and when, and a key goes to no other place than the endpoint.
//
// Program runs a program of this machine, which reads the prompt from its standard input and writes
// the answer to its standard output. It runs as the user, without isolation: executing a project
// trusts it with the programs of its generators.
package model

import (
	"context"
	"fmt"
	"time"
)

// Model answers prompts. It is safe for concurrent use.
type Model interface {
	// Ask asks once, with an API key, which is "" where none is needed. An error is a
	// *ThrottledError, a *RefusedError, a *WrongError, or that of a request which may succeed
	// when it is sent again. No error holds the key, whatever the other side says.
	Ask(ctx context.Context, key string, q Question) (Answer, error)
}

// Question is a request to a model.
type Question struct {
	System string // "" by default
	Prompt string
}

// Answer is the response of a model.
type Answer struct {
	Text   string
	Finish string // why it ended, in the words of the endpoint: "stop", "length" ...
	Usage  Usage
}

// Usage is the usage of an answer. Tokens are 0 if unknown.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

// MaxAnswer bounds the bytes of an answer that are read. A longer one is not a solution.
const MaxAnswer = 16 << 20

// ThrottledError says that a key has been used too often for now.
type ThrottledError struct {
	After  time.Duration // to wait; 0 is unknown
	Reason string
}

func (e *ThrottledError) Error() string { return e.Reason }

// RefusedError says that a key is of no use: unknown, without rights, or without money.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// WrongError says that what was asked can never be answered as the generator has it: the
// endpoint, the name of the model or a parameter is wrong.
type WrongError struct {
	Reason string
	Hint   string // how to mend it; may be ""
	// Maybe says that it may be this request alone which is wrong, such as by its length.
	Maybe bool
}

func (e *WrongError) Error() string {
	if e.Hint == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s (hint: %s)", e.Reason, e.Hint)
}
