// Package model calls models: a Model answers a prompt, or returns one of four kinds of errors.
//
// HTTP calls an endpoint with OpenAI's chat completions, the most common protocol. Answers are streamed, so
// that proxies do not end the connection as idle, and a truncated stream is not taken for an answer. It
// never retries and follows no redirect: the caller decides which key is used next, and when, and a key is
// sent only to the endpoint.
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
	// Ask sends a request once, with an API key, which is "" if none is needed. An error is a *ThrottledError, a
	// *RefusedError, a *WrongError, or the error of a request that can succeed when it is sent again. No
	// error contains the key, even if the other side's message does.
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

// ThrottledError means that a key has been used too often for now.
type ThrottledError struct {
	After  time.Duration // to wait; 0 if unknown
	Reason string
}

func (e *ThrottledError) Error() string { return e.Reason }

// RefusedError means that a key is useless: unknown, without rights, or without money.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// WrongError means that the request can never succeed as the generator is configured: the endpoint, the name
// of the model or a parameter is wrong.
type WrongError struct {
	Reason string
	Hint   string // how to fix it; can be ""
	// Maybe means that perhaps only this request is wrong, such as by its length.
	Maybe bool
}

func (e *WrongError) Error() string {
	if e.Hint == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s (hint: %s)", e.Reason, e.Hint)
}
