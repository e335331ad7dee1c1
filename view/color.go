package view

import (
	"io"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// UseColor decides whether to write colour to out. flag is "auto", "always"
// or "never". Auto means a terminal, unless NO_COLOR is set to anything or
// TERM is "dumb"; the flag beats both. A nil lookupEnv is an empty environment.
func UseColor(flag string, out io.Writer, lookupEnv func(string) (string, bool)) (bool, error) {
	switch flag {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
	default:
		return false, text.Unknown("colour mode", flag, []string{"auto", "always", "never"})
	}
	if lookupEnv != nil {
		if no, _ := lookupEnv("NO_COLOR"); no != "" {
			return false, nil
		}
		if term, _ := lookupEnv("TERM"); term == "dumb" {
			return false, nil
		}
	}
	return isTerminal(out), nil
}
