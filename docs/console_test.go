package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// realVariable makes the blocks marked real run, with uv from PATH.
const realVariable = "FEVALGRAPH_TEST_REAL"

// The console blocks of a page are one session: they run in order, in a copy
// of the quickstart called evals, or in an empty directory when the page says
// <!-- console: empty -->, or in one with logs of inspect_ai in logs when it says <!-- console: logs -->. A block of any language with file=PATH is written to
// that file before the next console block runs.
func TestConsole(t *testing.T) {
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, programName)); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		t.Run(p.path, func(t *testing.T) {
			blocks := p.blocks(t, "console")
			if len(blocks) == 0 {
				return
			}
			if !*update {
				t.Parallel() // pages have nothing in common
			}
			s := newSession(t, p, bin)
			shift, files := 0, p.files(t)
			for _, b := range blocks {
				for len(files) > 0 && files[0].line < b.start {
					files[0].write(t, s.dir)
					files = files[1:]
				}
				b.start, b.end = b.start+shift, b.end+shift
				if b.has("real") && os.Getenv(realVariable) == "" {
					continue
				}
				shift += s.check(t, p, b)
			}
			if *update {
				p.save(t)
			}
		})
	}
}

// inspectLogs is a directory of logs that inspect_ai wrote.
const inspectLogs = "../compat/logs/testdata/inspect"

// session is a shell as a reader of the page has it.
type session struct {
	home, dir string // home is shown as /home/me
	env       []string
	status    int // of the last command
}

func newSession(t *testing.T, p *page, bin string) *session {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{home: home, dir: home}
	switch text := p.text(); {
	case strings.Contains(text, "<!-- console: empty -->"):
	case strings.Contains(text, "<!-- console: logs -->"):
		if err := os.CopyFS(filepath.Join(home, "logs"), os.DirFS(inspectLogs)); err != nil {
			t.Fatal(err)
		}
	default:
		s.dir = filepath.Join(home, "evals")
		copyQuickstart(t, s.dir)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "FEVALGRAPH_") && !strings.HasPrefix(name, "GITHUB_") && name != "CI" {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"FEVALGRAPH_CACHE_DIR="+filepath.Join(home, ".cache", "fevalgraph"),
		"COLUMNS=200", // docs show it unfolded
		"XDG_STATE_HOME="+filepath.Join(home, ".local", "state"),
		"FEVALGRAPH_PROGRESS=none", "FEVALGRAPH_JOBS=2", "NO_COLOR=1")
	return s
}

// file is a block of a page that the session has as a file.
type file struct {
	line          int
	name, content string
}

func (p *page) files(t *testing.T) []file {
	var all []file
	for _, b := range p.blocks(t, "") {
		if name := b.option("file"); name != "" {
			all = append(all, file{b.start, name, p.content(b)})
		}
	}
	return all
}

func (f file) write(t *testing.T, dir string) {
	path := filepath.Join(dir, filepath.FromSlash(f.name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(f.content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command is one command of a block with the output that the page shows.
type command struct {
	text string
	want []string
}

func commands(t *testing.T, p *page, b block) []command {
	var all []command
	for i := b.start; i < b.end; i++ {
		line := p.lines[i]
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			for strings.HasSuffix(text, "\\") && i+1 < b.end {
				i++
				text += "\n" + p.lines[i]
			}
			all = append(all, command{text: text})
		} else if len(all) == 0 {
			t.Errorf("%s:%d: a console block begins with \"$ \"", p.path, i+1)
		} else {
			last := &all[len(all)-1]
			last.want = append(last.want, line)
		}
	}
	return all
}

// check runs the commands of a block and returns by how many lines the block
// grew, which happens with -update alone.
func (s *session) check(t *testing.T, p *page, b block) int {
	var now []string
	differs := false
	for _, c := range commands(t, p, b) {
		got := s.run(t, c.text)
		now = append(now, strings.Split("$ "+c.text, "\n")...)
		if pattern(c.want).MatchString(normal(got)) {
			now = append(now, c.want...)
			continue
		}
		differs = true
		if got != "" {
			now = append(now, strings.Split(strings.TrimSuffix(got, "\n"), "\n")...)
		}
		if !*update {
			t.Errorf("%s:%d: $ %s\n--- shown\n%s\n--- printed\n%s", p.path, b.start+1, c.text, strings.Join(c.want, "\n"), got)
		}
	}
	if !*update || !differs {
		return 0
	}
	grew := len(now) - (b.end - b.start)
	p.lines = append(p.lines[:b.start:b.start], append(now, p.lines[b.end:]...)...)
	return grew
}

// run runs a command in a shell with the state of the last one.
func (s *session) run(t *testing.T, text string) string {
	where := filepath.Join(s.home, ".where")
	script := fmt.Sprintf("(exit %d)\n%s\nstatus=$?; pwd > '%s'; exit $status", s.status, text, where)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	s.status = cmd.ProcessState.ExitCode()
	if dir, err := os.ReadFile(where); err == nil {
		s.dir = strings.TrimSpace(string(dir))
	}
	shown := strings.ReplaceAll(out.String(), s.home, "/home/me")
	var lines []string
	for line := range strings.Lines(shown) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// changing matches text that differs between runs and machines, and its replacement stands for all of its forms.
var changing = []struct {
	pattern *regexp.Regexp
	form    string
}{
	{regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{6}\b`), "RUN"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b|\b[0-9a-f]{12}…`), "HASH"},
	{regexp.MustCompile(`HASH/\d+`), "DIGEST"},
	{regexp.MustCompile(`\b(\d+m)?\d+(\.\d+)?m?s\b`), "DURATION"},
	{regexp.MustCompile(`("(?:[a-z_]*seconds|duration_ms)": ?)[0-9.e+-]+`), "${1}N"},
	{regexp.MustCompile(`\b\d+(\.\d+)? [KMG]?i?B\b`), "SIZE"},
	{regexp.MustCompile(`\d+ blobs`), "N blobs"},
	{regexp.MustCompile(`blobs +\d+`), "blobs N"},
	{regexp.MustCompile(`(fevalgraph|"version": ?")( ?)\d+\.\d+\.\d+(\+[0-9a-f]+)?`), "$1${2}VERSION"},
	{regexp.MustCompile(`go1\.\d+(\.\d+)?`), "GO"},
	{regexp.MustCompile(`(linux|darwin)/(amd64|arm64)`), "PLATFORM"},
	{regexp.MustCompile(`CPython 3\.\d+\.\d+|Python 3\.\d+`), "PYTHON"},
	{regexp.MustCompile(`\b\d+\.\d+ of (\d+ slots?) idle`), "N of $1 idle"},
	{regexp.MustCompile(` Waits for other programs did not count\.`), ""}, // on a busy machine
	{regexp.MustCompile(`-{5,}`), "-----"},
	{regexp.MustCompile(` {2,}`), " "},
}

func normal(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n") // CSV ends lines so, which a page does not show
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.form)
	}
	return text
}

// pattern matches output against a page: "..." stands for any text within a line, and a line "..." for any number of
// lines.
func pattern(want []string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range want {
		line = strings.TrimRight(line, " ")
		if line == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(normal(line)), `\.\.\.`, `.*`) + `\n`)
	}
	return regexp.MustCompile(b.String() + `\z`)
}
