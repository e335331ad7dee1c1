package lsp

import (
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"
)

// initialize answers with the server's capabilities.
func (s *server) initialize(raw json.RawMessage) (any, error) {
	p, err := decode[initialize](raw)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.client = p.Capabilities
	s.mu.Unlock()
	s.stage = initialized
	return map[string]any{
		"serverInfo": map[string]any{"name": "fevalgraph", "version": s.options.Project.Version},
		"capabilities": map[string]any{
			"positionEncoding":   "utf-16",
			"textDocumentSync":   map[string]any{"openClose": true, "change": 2, "save": map[string]any{}},
			"completionProvider": map[string]any{"triggerCharacters": []string{".", "\"", "/", "[", "{"}},
			"definitionProvider": true,
			"hoverProvider":      true,
		},
	}, nil
}

// watchFiles requests notifications about files that others write, such as sources of cells and tests.
func (s *server) watchFiles(struct{}) error {
	if !s.client.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return nil
	}
	s.call("client/registerCapability", map[string]any{"registrations": []any{map[string]any{
		"id": "files", "method": "workspace/didChangeWatchedFiles",
		"registerOptions": map[string]any{"watchers": []any{map[string]any{"globPattern": "**/*"}}},
	}}})
	return nil
}

// call sends a request to the client, without waiting for the answer.
func (s *server) call(method string, params any) {
	s.spawn(func() {
		var ignored json.RawMessage
		_ = s.conn.Call(s.ctx, method, params, &ignored) // without it changes are noticed later
	})
}

// exit ends the connection.
func (s *server) exit(struct{}) error {
	s.orderly = s.stage == shutDown
	s.ended()
	return nil
}

// cancel ends a request, if it is not answered yet.
func (s *server) cancel(p struct {
	ID jsonrpc2.ID `json:"id"`
}) error {
	s.mu.Lock()
	cancel := s.running[p.ID]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return nil
}
