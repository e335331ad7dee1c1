package gojudge

import "encoding/json"

// Messages of go-judge's HTTP interface; see its documentation. Times are nanoseconds, sizes bytes.

type wireRequest struct {
	Cmd         []wireCmd  `json:"cmd"`
	PipeMapping []wirePipe `json:"pipeMapping,omitempty"`
}

type wireCmd struct {
	Args  []string    `json:"args"`
	Env   []string    `json:"env,omitempty"`
	Files []*wireFile `json:"files"` // by descriptor; null means connected by a pipe

	CPULimit          int64 `json:"cpuLimit"`
	ClockLimit        int64 `json:"clockLimit"`
	MemoryLimit       int64 `json:"memoryLimit"`
	StackLimit        int64 `json:"stackLimit"`
	ProcLimit         int   `json:"procLimit"`
	AddressSpaceLimit bool  `json:"addressSpaceLimit,omitempty"`

	CopyIn        map[string]wireFile `json:"copyIn,omitempty"`
	CopyOutCached []string            `json:"copyOutCached,omitempty"`
	CopyOutMax    int64               `json:"copyOutMax,omitempty"`
}

// wireFile is a file or descriptor: a path of the server's machine, an uploaded file, text, or a collector
// of output.
type wireFile struct {
	Src     string  `json:"src,omitempty"`
	FileID  string  `json:"fileId,omitempty"`
	Content *string `json:"content,omitempty"`

	Name string `json:"name,omitempty"`
	Max  *int64 `json:"max,omitempty"`
	Pipe bool   `json:"pipe,omitempty"`
}

// MarshalJSON encodes only the kind that is set: go-judge derives the kind from the fields present.
func (f wireFile) MarshalJSON() ([]byte, error) {
	switch {
	case f.Src != "":
		return json.Marshal(map[string]string{"src": f.Src})
	case f.FileID != "":
		return json.Marshal(map[string]string{"fileId": f.FileID})
	case f.Content != nil:
		return json.Marshal(map[string]string{"content": *f.Content})
	}
	return json.Marshal(map[string]any{"name": f.Name, "max": f.Max, "pipe": f.Pipe})
}

type wirePipe struct {
	In  wireEnd `json:"in"`  // writer
	Out wireEnd `json:"out"` // reader
}

type wireEnd struct {
	Index int `json:"index"`
	Fd    int `json:"fd"`
}

type wireResult struct {
	Status     string            `json:"status"`
	ExitStatus int               `json:"exitStatus"` // or the number of the signal
	Error      string            `json:"error"`
	Time       int64             `json:"time"` // processor time
	RunTime    int64             `json:"runTime"`
	Memory     int64             `json:"memory"`
	Files      map[string]string `json:"files"`
	FileIDs    map[string]string `json:"fileIds"`
	FileError  []wireFileError   `json:"fileError"`
}

type wireFileError struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// wireVersion is the answer of /version.
type wireVersion struct {
	BuildVersion string `json:"buildVersion"`
	OS           string `json:"os"`
	Platform     string `json:"platform"`
}

// wireConfig is the part of the answer of /config that matters.
type wireConfig struct {
	FileStorePath string `json:"fileStorePath"`
}

// Statuses of results.
const (
	statusAccepted  = "Accepted"
	statusMemory    = "Memory Limit Exceeded"
	statusTime      = "Time Limit Exceeded"
	statusOutput    = "Output Limit Exceeded"
	statusFile      = "File Error"
	statusNonzero   = "Nonzero Exit Status"
	statusSignalled = "Signalled"
	statusSyscall   = "Dangerous Syscall"
	statusInternal  = "Internal Error"
)

// Types of file errors that the program caused.
const (
	errCollectSize = "CollectSizeExceeded"
	errCopyOutSize = "CopyOutSizeExceeded"
	errCopyOutOpen = "CopyOutOpen"
	errNotRegular  = "CopyOutNotRegularFile"
)
