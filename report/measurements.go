package report

// Measurements are what of a Checkpoint varies from run to run, kept apart from
// it so that equal verdicts are equal bytes. Tests has one entry for each of the
// checkpoint's.
type Measurements struct {
	DurationMS float64           `json:"duration_ms"`
	Message    string            `json:"message,omitempty"`
	Tests      []TestMeasurement `json:"tests"`
}

// TestMeasurement is what of a test varies from run to run.
type TestMeasurement struct {
	DurationMS  float64  `json:"duration_ms"`
	Message     string   `json:"message,omitempty"`
	CPUMS       *float64 `json:"cpu_ms,omitempty"`
	MemoryBytes *int64   `json:"memory_bytes,omitempty"`
}

// Measured fills in c's measurements.
func (c *Checkpoint) Measured(m *Measurements) {
	c.DurationMS, c.Message = m.DurationMS, present(m.Message)
	for i := range c.Tests {
		// Verdicts and measurements come from the same work unless the
		// verdicts were equal before; then the newer measurements fit, too.
		if i < len(m.Tests) {
			t, of := &c.Tests[i], &m.Tests[i]
			t.DurationMS, t.Message, t.CPUMS, t.MemoryBytes = of.DurationMS, present(of.Message), of.CPUMS, of.MemoryBytes
		}
	}
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
