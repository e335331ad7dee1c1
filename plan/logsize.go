package plan

import "fmt"

// Limits of what a reader keeps of a file. The size of a compressed file does not limit them.
const (
	MaxLogName   = 4 << 10   // bytes of a name: of a problem, a contender or a metric
	maxLogText   = 256 << 20 // bytes of all names and messages
	maxLogValues = 3_000_000 // values of all attempts
)

// LogSize adds up what a reader keeps of a file, to bound its memory.
type LogSize struct{ text, values int }

// Names adds texts that are kept. It returns an error if one is too long for a name, or all together are too large.
func (s *LogSize) Names(names ...string) error {
	for _, name := range names {
		if len(name) > MaxLogName {
			return fmt.Errorf("the name %q... is longer than %d bytes", name[:60], MaxLogName)
		}
		s.text += len(name)
	}
	if s.text > maxLogText {
		return fmt.Errorf("its names and messages are larger than %d MiB", maxLogText>>20)
	}
	return nil
}

// Values adds values of attempts. It returns an error if all together are too many.
func (s *LogSize) Values(n int) error {
	if s.values += n; s.values > maxLogValues {
		return fmt.Errorf("more than %d values", maxLogValues)
	}
	return nil
}

// Attempt adds an attempt, as Names and Values do.
func (s *LogSize) Attempt(a *LogAttempt) error {
	if err := s.Values(len(a.Values)); err != nil {
		return err
	}
	return s.Names(a.Problem, a.Message)
}
