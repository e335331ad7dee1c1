package verdict

// Measurements are what of a checkpoint's run varies from run to run. Tests has
// one entry for each of the checkpoint's. Their JSON is the stored form.
type Measurements struct {
	DurationMS float64           `json:"duration_ms"`
	Message    string            `json:"message,omitempty"`
	Isolation  string            `json:"isolation,omitempty"` // of the commands, on a backend with levels of it
	Tests      []TestMeasurement `json:"tests"`
}

// TestMeasurement is what of a test varies from run to run.
type TestMeasurement struct {
	DurationMS  float64  `json:"duration_ms"` // from start to end
	Message     string   `json:"message,omitempty"`
	CPUMS       *float64 `json:"cpu_ms,omitempty"` // processor time
	MemoryBytes *int64   `json:"memory_bytes,omitempty"`
}
