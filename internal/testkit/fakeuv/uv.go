package fakeuv

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// UV is the main function of the stand-in for uv.
//
// FAKEUV_INDEX="pytest=9.0.1,..." lists packages of the index; others have the version 1.0.0, and names that begin
// with "no-such-" do not exist. FAKEUV_OFFLINE makes the index unreachable, FAKEUV_CACHED puts all of its packages
// into the cache, and FAKEUV_WAIT=300ms makes it slow.
func UV() {
	args := os.Args[1:]
	switch {
	case len(args) == 1 && args[0] == "--version":
		fmt.Println("uv 0.0.0 (stand-in)")
	case len(args) >= 2 && args[0] == "python" && args[1] == "find":
		findPython(args[2:])
	case len(args) >= 2 && args[0] == "venv":
		makeVenv(args[len(args)-1], args[slices.Index(args, "--python")+1])
	case len(args) >= 2 && args[0] == "pip" && args[1] == "compile":
		compile(args[2:])
	case len(args) >= 2 && args[0] == "pip" && args[1] == "install":
		install(args[2:])
	default:
		fail(2, "error: the stand-in for uv does not know %q", args)
	}
}

// findPython prints the path of an executable that prints a version like an interpreter. Version 4 does not
// exist.
func findPython(args []string) {
	version := "3.11.7"
	for _, arg := range args {
		switch {
		case strings.HasPrefix(arg, "-"):
		case strings.HasPrefix(arg, "4"):
			fail(2, "error: No interpreter found for Python %s", arg)
		default:
			version = arg
			if strings.Count(arg, ".") == 1 {
				version += ".1"
			}
		}
	}
	path := filepath.Join(cacheDir(), "python-"+version)
	script := "#!/bin/sh\necho CPython " + version + "\n"
	if content, err := os.ReadFile(path); err != nil || string(content) != script {
		writeProgram(path, script)
	}
	fmt.Println(path)
}

// writeProgram writes a program atomically, since other processes can start it at any time.
func writeProgram(path, script string) {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err == nil {
		err = os.WriteFile(temporary, []byte(script), 0o755)
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		fail(2, "error: %v", err)
	}
}

var requirement = regexp.MustCompile(`^([A-Za-z0-9._-]+)\s*(?:==\s*(\S+))?`)

// compile pins the requirements in the last argument and writes them to the file of --output-file, keeping
// versions that the file already has.
func compile(args []string) {
	index := versions([]byte(os.Getenv("FAKEUV_INDEX")), ",", "=")
	if offline := slices.Contains(args, "--offline"); offline && os.Getenv("FAKEUV_CACHED") == "" {
		fail(1, "  × No solution found when resolving dependencies:\n  ╰─▶ Because pytest was not found in the cache, your requirements are unsatisfiable.")
	} else if !offline && os.Getenv("FAKEUV_OFFLINE") != "" {
		fail(2, "error: Request failed after 3 retries\n  Caused by: error sending request for url")
	}
	if wait, err := time.ParseDuration(os.Getenv("FAKEUV_WAIT")); err == nil {
		time.Sleep(wait)
	}
	if !slices.Contains(args, "--output-file") {
		return // only checks whether there is an index
	}
	out := args[slices.Index(args, "--output-file")+1]
	required, err := os.ReadFile(args[slices.Index(args, "--output-file")+2])
	if err != nil {
		fail(2, "error: %v", err)
	}
	before, _ := os.ReadFile(out)
	kept := versions(before, "\n", "==")
	var pins []string
	for line := range strings.Lines(string(required)) {
		m := requirement.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		name, version := m[1], m[2]
		if strings.HasPrefix(name, "no-such-") {
			fail(1, "  × No solution found when resolving dependencies:\n"+
				"  ╰─▶ Because %s was not found in the package registry and you require %s, we can conclude that your requirements are unsatisfiable.", name, name)
		}
		for _, v := range []string{kept[name], index[name], "1.0.0"} {
			if version == "" {
				version = v
			}
		}
		pin := name + "==" + version
		if slices.Contains(args, "--generate-hashes") {
			pin += " \\\n    --hash=" + hashOf(pin)
		}
		pins = append(pins, pin)
	}
	slices.Sort(pins)
	if err := os.WriteFile(out, []byte(strings.Join(slices.Compact(pins), "\n")+"\n"), 0o600); err != nil {
		fail(2, "error: %v", err)
	}
}

func hashOf(pin string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(pin))) }

// makeVenv makes an environment with the interpreter at path.
func makeVenv(dir, path string) {
	writeProgram(filepath.Join(dir, "bin", "python"), "#!/bin/sh\nexec "+path+" \"$@\"\n")
}

// install checks the hashes in the file of --requirements, and fetches the packages like uvx. It puts pytest
// next to the interpreter of an environment.
func install(args []string) {
	content, err := os.ReadFile(args[slices.Index(args, "--requirements")+1])
	if err != nil {
		fail(2, "error: %v", err)
	}
	for line := range strings.Lines(string(content)) {
		pin, hash, hashed := strings.Cut(strings.TrimSpace(line), " --hash=")
		if !hashed && slices.Contains(args, "--require-hashes") {
			fail(1, "error: In `--require-hashes` mode, all requirements must have a hash, but none were provided for: %s", pin)
		}
		if hashed && hash != hashOf(pin) {
			fail(1, "error: Failed to download `%s`\n  Caused by: Hash mismatch for `%s`", pin, pin)
		}
	}
	provide(slices.Contains(args, "--offline") || os.Getenv("UV_OFFLINE") != "")
	if python := args[slices.Index(args, "--python")+1]; strings.HasSuffix(python, "/bin/python") {
		program, err := os.Executable()
		var content []byte
		if err == nil {
			content, err = os.ReadFile(program) // it can be on another file system
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(python), "pytest"), content, 0o755)
		}
		if err != nil {
			fail(2, "error: %v", err)
		}
	}
}

// versions parses name-version pairs.
func versions(text []byte, between, within string) map[string]string {
	found := map[string]string{}
	for _, pair := range bytes.Split(text, []byte(between)) {
		if name, version, ok := strings.Cut(strings.TrimSpace(string(pair)), within); ok {
			found[name] = version
		}
	}
	return found
}
