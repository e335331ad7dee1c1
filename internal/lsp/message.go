package lsp

// The part of the protocol's messages that the server reads and writes, version 3.17.

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
}

// positionParams contains the parameters of requests about a position.
type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     Position     `json:"position"`
}

type textChange struct {
	Range *Range `json:"range,omitempty"` // nil is the whole text
	Text  string `json:"text"`
}

type didOpen struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type didChange struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []textChange `json:"contentChanges"`
}

type ofDocument struct {
	TextDocument textDocument `json:"textDocument"`
}

type location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// Severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)

type diagnostic struct {
	Range    Range  `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type publishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// clientCapabilities are the capabilities of a client that affect the server.
type clientCapabilities struct {
	Workspace struct {
		DidChangeWatchedFiles struct {
			DynamicRegistration bool `json:"dynamicRegistration"`
		} `json:"didChangeWatchedFiles"`
	} `json:"workspace"`
	TextDocument struct {
		Completion struct {
			CompletionItem struct {
				SnippetSupport bool `json:"snippetSupport"`
			} `json:"completionItem"`
		} `json:"completion"`
	} `json:"textDocument"`
}

type initialize struct {
	Capabilities clientCapabilities `json:"capabilities"`
}
