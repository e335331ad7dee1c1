package lsp

import (
	"context"
	"encoding/json"
)

// notifications are the messages without an answer that the server takes.
var notifications map[string]func(*server, json.RawMessage) error

// requests maps methods to handlers, besides initialize and shutdown.
var requests map[string]func(context.Context, *server, *snapshot, json.RawMessage) (any, error)

func init() { // in init: the handlers refer to the maps
	notifications = map[string]func(*server, json.RawMessage) error{
		"initialized":                     notified((*server).watchFiles),
		"exit":                            notified((*server).exit),
		"$/cancelRequest":                 notified((*server).cancel),
		"textDocument/didOpen":            notified((*server).opened),
		"textDocument/didChange":          notified((*server).changed),
		"textDocument/didSave":            notified((*server).saved),
		"textDocument/didClose":           notified((*server).closed),
		"workspace/didChangeWatchedFiles": notified((*server).touched),
	}
	requests = map[string]func(context.Context, *server, *snapshot, json.RawMessage) (any, error){
		"textDocument/completion": asked((*server).complete),
		"textDocument/definition": asked((*server).definition),
		"textDocument/hover":      asked((*server).hover),
	}
}

func notified[P any](handle func(*server, P) error) func(*server, json.RawMessage) error {
	return func(s *server, raw json.RawMessage) error {
		if raw == nil {
			raw = json.RawMessage("{}")
		}
		p, err := decode[P](raw)
		if err != nil {
			return err
		}
		return handle(s, p)
	}
}

func asked[P any](answer func(*server, context.Context, *snapshot, P) (any, error)) func(context.Context, *server, *snapshot, json.RawMessage) (any, error) {
	return func(ctx context.Context, s *server, now *snapshot, raw json.RawMessage) (any, error) {
		p, err := decode[P](raw)
		if err != nil {
			return nil, err
		}
		return answer(s, ctx, now, p)
	}
}
