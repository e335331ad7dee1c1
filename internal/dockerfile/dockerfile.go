// Package dockerfile reads Dockerfiles without a daemon.
package dockerfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

// emptyBase is the base without an image.
const emptyBase = "scratch"

// Bases lists the images that a Dockerfile uses, each once, in order: those of FROM and of COPY --from that
// are not its stages. args override the defaults of the arguments that FROM can use. An error is about the
// Dockerfile.
func Bases(dockerfile []byte, args map[string]string) ([]string, error) {
	parsed, err := parser.Parse(bytes.NewReader(dockerfile))
	if err != nil {
		return nil, err
	}
	stages, arguments, err := instructions.Parse(parsed.AST, nil)
	if err == nil && len(stages) == 0 {
		err = errors.New("it has no FROM")
	}
	if err != nil {
		return nil, err
	}
	lex := shell.NewLex(parsed.EscapeToken)
	known, err := global(lex, arguments, args)
	if err != nil {
		return nil, err
	}
	var found []string
	add := func(name string) {
		if name != emptyBase && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	for i, stage := range stages {
		name, _, err := lex.ProcessWord(stage.BaseName, shell.EnvsFromSlice(known))
		if err == nil && name == "" {
			err = fmt.Errorf("FROM %s names no image", stage.BaseName)
		}
		if err != nil {
			return nil, err
		}
		if !isStage(stages[:i], name) {
			add(name)
		}
		for _, command := range stage.Commands {
			if c, ok := command.(*instructions.CopyCommand); ok && c.From != "" && !isStage(stages[:i], c.From) && !isIndex(c.From, i) {
				add(c.From)
			}
		}
	}
	return found, nil
}

// global evaluates the arguments before the first FROM, as name=value.
func global(lex *shell.Lex, arguments []instructions.ArgCommand, args map[string]string) ([]string, error) {
	var known []string
	for _, argument := range arguments {
		for _, pair := range argument.Args {
			given, found := args[pair.Key]
			switch {
			case found:
				known = append(known, pair.Key+"="+given)
			case pair.Value != nil:
				value, _, err := lex.ProcessWord(*pair.Value, shell.EnvsFromSlice(known))
				if err != nil {
					return nil, err
				}
				known = append(known, pair.Key+"="+value)
			}
		}
	}
	return known, nil
}

// isStage reports whether an earlier stage has the name.
func isStage(stages []instructions.Stage, name string) bool {
	return slices.ContainsFunc(stages, func(s instructions.Stage) bool { return s.Name != "" && strings.EqualFold(s.Name, name) })
}

// isIndex reports whether a text is the number of one of the first n stages.
func isIndex(text string, n int) bool {
	index, err := strconv.Atoi(text)
	return err == nil && index >= 0 && index < n
}
