package lang

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/internal/frozen"
)

// Archive writes a configuration down for the same program to read again, as
// long as nothing changed that it was evaluated from: Config.Inputs and the
// Options. One with expressions that wait for results has no such form, which
// is an error.
func Archive(c *Config) ([]byte, error) {
	b, err := frozen.Append(nil, c)
	if err != nil {
		return nil, fmt.Errorf("archiving the configuration: %w", err)
	}
	return b, nil
}

// Unarchive reads what Archive wrote. It believes what it reads: whoever keeps it
// keeps a checksum with it.
func Unarchive(b string) (*Config, error) {
	c := new(Config)
	if err := frozen.Decode(b, c); err != nil {
		return nil, fmt.Errorf("reading the archived configuration: %w", err)
	}
	return c, nil
}
