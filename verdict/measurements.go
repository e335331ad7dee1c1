package verdict

// Measurements contains the data of a checkpoint's run that varies from run to run. Tests has one entry for
// each of the checkpoint's. Their JSON is the stored form.
type Measurements struct {
	DurationMS float64           `json:"duration_ms"`
	Message    string            `json:"message,omitempty"`
	Isolation  string            `json:"isolation,omitempty"` // of the commands, on a backend with levels of it
	Import     string            `json:"import,omitempty"`    // how a grader that imports the submission runs it: ImportSeparate or ImportInProcess; "" if unknown
	Tests      []TestMeasurement `json:"tests"`
}

// The values of Import.
const (
	ImportSeparate  = "separate"   // in another process, which cannot reach the grader
	ImportInProcess = "in-process" // in the grader's process, with all its rights
)

// TestMeasurement contains the data of a test that varies from run to run.
type TestMeasurement struct {
	DurationMS  float64  `json:"duration_ms"` // from start to end
	Message     string   `json:"message,omitempty"`
	CPUMS       *float64 `json:"cpu_ms,omitempty"` // processor time
	MemoryBytes *int64   `json:"memory_bytes,omitempty"`
}
