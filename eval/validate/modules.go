package validate

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// standard are the modules of Python's standard library.
const standard = `abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb ` +
	`chunk cmath cmd code codecs codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses ` +
	`dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch ` +
	`fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp ` +
	`importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder ` +
	`msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools ` +
	`pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re ` +
	`readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver ` +
	`spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny ` +
	`tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle ` +
	`turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp ` +
	`zipfile zipimport zlib zoneinfo __future__ _thread`

// brought lists modules of the built-in requirements whose names differ from the requirements'.
const brought = `_pytest attr attrs cachebox iniconfig jsonschema_specifications orderly_set packaging pluggy py pygments pytest_jsonreport pytest_metadata referencing rpds typing_extensions`

// distributions maps modules to requirements with another name.
var distributions = map[string]string{
	"bs4": "beautifulsoup4", "cv2": "opencv-python", "dateutil": "python-dateutil", "dotenv": "python-dotenv", "Crypto": "pycryptodome",
	"git": "gitpython", "jwt": "pyjwt", "PIL": "pillow", "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn", "yaml": "pyyaml",
}

var (
	importLine  = lazyregexp.New(`(?m)^(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*))`)
	requirement = lazyregexp.New(`^\s*([A-Za-z0-9._-]+)`)
)

// missingModules warns about modules that tests import and nothing provides: neither Python, nor the
// problem, nor its solutions, nor a requirement. A requirement can provide modules of any name, and depend
// on others, so the lock file must exclude that.
func missingModules(cfg *lang.Config, imports *Imports) (found diag.List) {
	known := strings.Fields(standard + " " + brought)
	for _, name := range pytest.DefaultRequirements {
		known = append(known, moduleOf(name))
	}
	if slices.ContainsFunc(cfg.Backends, func(b *lang.Backend) bool { return searchesElsewhere(b.Env) }) {
		return nil
	}
	lock, unlocked := os.ReadFile(filepath.Join(cfg.Root, "fevalgraph.lock"))
	own := solutionModules(cfg)
	for _, p := range cfg.Problems {
		if p.Pytest == nil || p.Pytest.Root == "" || slices.ContainsFunc(p.Checkpoints, func(c *lang.Checkpoint) bool { return searchesElsewhere(c.Env) }) {
			continue
		}
		seen := imports.modulesBelow(p.Pytest.Root)
		needed := map[string]bool{} // distributions
		for name := range seen.imported {
			needed[distributionOf(name)] = true
		}
		certain := len(p.Pytest.Requires) == 0 || unlocked == nil
		for _, line := range p.Pytest.Requires {
			name := strings.ToLower(strings.ReplaceAll(requirement().FindString(line), "_", "-"))
			certain = certain && needed[name]
			delete(needed, name)
		}
		var missing []string
		for name := range seen.imported {
			dist := distributionOf(name)
			if certain && needed[dist] && !seen.present[name] && !own[p][name] && !slices.Contains(known, name) && !strings.Contains(string(lock), dist+"==") {
				missing = append(missing, dist)
			}
		}
		if len(missing) == 0 {
			continue
		}
		slices.Sort(missing)
		missing = slices.Compact(missing)
		at := p.Pytest.Range
		found = append(found, diag.Diagnostic{
			Severity: diag.Warning, Code: "missing-module", Summary: "Module not required", Range: &at, Context: p.Ref,
			Detail: fmt.Sprintf("The tests import modules that neither Python nor a requirement provides: %s.", seen.places(missing)),
			Hint:   fmt.Sprintf("write requires = [%s] in the pytest block", quoted(append(slices.Clone(p.Pytest.Requires), missing...))),
		})
	}
	return found
}

// searchesElsewhere reports whether Python finds modules in directories that are not looked at here.
func searchesElsewhere(env []lang.EnvVar) bool {
	return slices.ContainsFunc(env, func(v lang.EnvVar) bool { return v.Name == "PYTHONPATH" })
}

func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }

// moduleOf returns the usual module of a distribution, and distributionOf the other way round.
func moduleOf(distribution string) string { return strings.ReplaceAll(distribution, "-", "_") }

func distributionOf(module string) string {
	if name := distributions[module]; name != "" {
		return name
	}
	return strings.ToLower(strings.ReplaceAll(module, "_", "-"))
}

// modules returns the modules that the tests directly in a directory import, with the first position, and
// the modules anywhere in it: other files there can be data.
type modules struct {
	imported map[string]string
	present  map[string]bool
}

// places lists where distributions are imported.
func (m *modules) places(distributions []string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.imported)) {
		if slices.Contains(distributions, distributionOf(name)) {
			all = append(all, fmt.Sprintf("%s (%s)", name, m.imported[name]))
		}
	}
	return text.Some(all, 3)
}

// modulesBelow searches each directory once. Only statements at the start of a line count: others can be
// optional.
func (i *Imports) modulesBelow(root string) *modules {
	if found := i.modules[root]; found != nil {
		return found
	}
	m := &modules{imported: map[string]string{}, present: map[string]bool{}}
	_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		m.present[strings.TrimSuffix(d.Name(), ".py")] = true
		isTest, _ := filepath.Match("test_*.py", d.Name())
		if !d.Type().IsRegular() || filepath.Dir(file) != filepath.Clean(root) || !isTest && d.Name() != "conftest.py" {
			return nil
		}
		content, err := readStart(file)
		if err != nil {
			return nil
		}
		for _, at := range importLine().FindAllSubmatchIndex(content, -1) {
			group := 2
			if at[group] < 0 {
				group = 4
			}
			for name := range strings.SplitSeq(string(content[at[group]:at[group+1]]), ",") {
				name = strings.Fields(strings.ReplaceAll(name, ".", " "))[0]
				if m.imported[name] == "" {
					m.imported[name] = fmt.Sprintf("%s:%d", filepath.Base(file), 1+strings.Count(string(content[:at[0]]), "\n"))
				}
			}
		}
		return nil
	})
	if i.modules == nil {
		i.modules = map[string]*modules{}
	}
	i.modules[root] = m
	return m
}

// solutionModules returns the names of modules at the top of the problems' solutions.
func solutionModules(cfg *lang.Config) map[*lang.Problem]map[string]bool {
	own := map[*lang.Problem]map[string]bool{}
	for _, s := range cfg.Solutions {
		if s.Problem.Pytest == nil || len(own[s.Problem]) > 0 {
			continue // solutions answer with the same modules
		}
		own[s.Problem] = map[string]bool{strings.TrimSuffix(path.Base(scriptOf(s.Problem.Entry)), ".py"): true}
		for _, answer := range s.Checkpoints {
			entries, _ := os.ReadDir(answer.Source)
			for _, e := range entries {
				own[s.Problem][strings.TrimSuffix(e.Name(), ".py")] = true
			}
		}
	}
	return own
}
