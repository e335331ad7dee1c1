package fakeuv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Exit codes of pytest.
const (
	exitPassed      = 0
	exitFailed      = 1
	exitInterrupted = 2
	exitNoTests     = 5
)

// UVX is the main function of the stand-in for uvx.
func UVX() {
	if slices.Contains(os.Args, "--version") && !slices.Contains(os.Args, "pytest") {
		fmt.Println("uvx 0.0.0 (stand-in)")
		return
	}
	at := slices.Index(os.Args, "pytest")
	if at < 0 || at+1 == len(os.Args) {
		fail(2, "error: the stand-in for uvx does not know %q", os.Args[1:])
	}
	if os.Args[at+1] == "--version" {
		provide(slices.Contains(os.Args[:at], "--offline"))
	}
	pytest(os.Args[at+1:])
}

// Pytest runs the stand-in for the pytest of an environment.
func Pytest() {
	if len(os.Args) < 2 {
		fail(2, "error: the stand-in for pytest needs arguments")
	}
	pytest(os.Args[1:])
}

func pytest(args []string) {
	if args[0] == "--version" {
		fmt.Println("pytest 0.0.0 (stand-in)")
		return
	}
	run(strings.TrimSuffix(args[0], "/"), args[1:])
}

// provide fetches pytest, once for each cache.
func provide(offline bool) {
	fetched := filepath.Join(cacheDir(), "fetched-pytest")
	switch _, err := os.Stat(fetched); {
	case err == nil:
	case offline:
		fail(2, "error: pytest was not found in the cache, and the network was disabled")
	case os.Getenv("FAKEUV_OFFLINE") != "":
		fail(2, "error: Request failed after 3 retries\n  Caused by: error sending request for url")
	default:
		if err := errors.Join(os.MkdirAll(cacheDir(), 0o755), os.WriteFile(fetched, nil, 0o644)); err != nil {
			fail(2, "error: %v", err)
		}
	}
}

// run imitates what pytest does with the tests in dir.
func run(dir string, args []string) {
	logRun(args)
	s, err := readSuite(dir)
	if err != nil {
		fail(2, "error: %v", err)
	}
	fmt.Println("============================= test session starts ==============================")
	reports := reportFiles{json: option(args, "--json-report-file"), ctrf: option(args, "--ctrf")}
	if slices.Contains(args, "fevalgraph_seal") {
		if err := reports.takeKey(); err != nil {
			fail(3, "INTERNALERROR> %v", err)
		}
	}
	code := s.exitCode()
	if !s.collectError {
		fmt.Printf("collecting ... collected %d items\n\n", len(s.tests))
		for _, t := range s.tests {
			fmt.Printf("%s %s\n", t.id(), strings.ToUpper(t.status))
		}
	} else {
		fmt.Printf("collecting ... collected 0 items / 1 error\n\nE   SyntaxError: invalid syntax\n" +
			"!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n")
	}
	for _, d := range s.directives {
		d.obey(&reports)
	}
	if err := reports.write(s, code); err != nil {
		fail(3, "INTERNALERROR> %v", err)
	}
	fmt.Println(s.lastLine())
	os.Exit(code)
}

// logRun records that this checkpoint's tests ran.
func logRun(args []string) {
	path := filepath.Join(cacheDir(), LogFile)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err == nil {
			_, err = fmt.Fprintf(f, "%s %s\n", option(args, "--checkpoint"), option(args, "--entrypoint"))
			f.Close()
		}
	}
	if err != nil {
		fail(2, "error: %v", err)
	}
}

// option returns the value of --name=value.
func option(args []string, name string) string {
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	return ""
}
