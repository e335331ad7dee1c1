package lang

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/internal/frozen"
)

// Archive encodes a configuration for the same program to read again, as long as Config.Inputs and the
// Options are unchanged. It fails for a configuration with expressions that wait for results.
func Archive(c *Config) ([]byte, error) {
	b, err := frozen.Append(nil, c)
	if err != nil {
		return nil, fmt.Errorf("archiving the configuration: %w", err)
	}
	return b, nil
}

// Unarchive decodes the output of Archive. It does not verify its input: the caller must keep a checksum
// with it.
func Unarchive(b []byte) (*Config, error) {
	c := new(Config)
	if err := frozen.Decode(b, c); err != nil {
		return nil, fmt.Errorf("reading the archived configuration: %w", err)
	}
	return c, nil
}
