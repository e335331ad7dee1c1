package backendtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Scripts of the suite for sandboxes that Imitate can play.
const (
	actCat      = `cat`
	actComplain = `echo yes; echo 'no: é' >&2; exit 3`
	actGrumble  = `echo 'no: é' >&2`
	actCopy     = `cat in > out && cat dir/in > dir/out`
	actFlood    = `exec yes`
	actSleep    = `echo before; exec sleep 1000`
	actAsk      = `echo question; read -r answer || exit 1; echo "got $answer" >&2; exit 7`
	actAnswer   = `read -r question || exit 1; echo "answer to $question"`
	actNothing  = `exit 0`
)

// Act is the input of a script of the suite, for Imitate.
type Act struct {
	In       io.Reader
	Out, Err io.Writer
	Read     func(name string) ([]byte, error)
	Write    func(name string, content []byte)
}

// Imitate behaves like a program of TestSandboxFiles, without a shell, and returns its exit status. program
// is the shell's argument, or the text of a file that the shell runs. known is false for a program that it
// cannot imitate.
func Imitate(ctx context.Context, program string, a Act) (code int, known bool) {
	switch strings.TrimPrefix(program, "#!/bin/sh\n") {
	case actCat:
		_, _ = io.Copy(a.Out, a.In)
	case actComplain:
		fmt.Fprint(a.Out, "yes\n")
		fmt.Fprint(a.Err, "no: é\n")
		return 3, true
	case actGrumble:
		fmt.Fprint(a.Err, "no: é\n")
	case actCopy:
		for _, dir := range []string{"", "dir/"} {
			content, err := a.Read(dir + "in")
			if err != nil {
				return 1, true
			}
			a.Write(dir+"out", content)
		}
	case actFlood:
		for ctx.Err() == nil {
			if _, err := io.WriteString(a.Out, strings.Repeat("y\n", 100)); err != nil {
				return 1, true
			}
		}
	case actSleep:
		fmt.Fprint(a.Out, "before\n")
		<-ctx.Done()
	case actAsk:
		if _, err := fmt.Fprint(a.Out, "question\n"); err != nil {
			return 1, true
		}
		answer, err := bufio.NewReader(a.In).ReadString('\n')
		if err != nil {
			return 1, true
		}
		fmt.Fprint(a.Err, "got "+answer)
		return 7, true
	case actAnswer:
		question, err := bufio.NewReader(a.In).ReadString('\n')
		if err != nil {
			return 1, true
		}
		fmt.Fprint(a.Out, "answer to "+question)
	case actNothing:
	default:
		return 0, false
	}
	return 0, true
}
