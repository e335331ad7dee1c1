package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/examples"
	"github.com/fevalgraph/fevalgraph/report/text"
)

func starterKinds() []string {
	var kinds []string
	for _, s := range examples.Starters {
		kinds = append(kinds, s.Kind)
	}
	return kinds
}

func (a *app) initCommand() *cobra.Command {
	kind := examples.Starters[0].Kind
	about := ""
	for _, s := range examples.Starters {
		about += fmt.Sprintf("  %-21s %s\n", s.Kind, s.About)
	}
	cmd := command("init [DIR]", "Write a small project to start from",
		`Init writes a configuration with its files into DIR (by default the current
directory), and a .gitignore for the files of runs. It never overwrites existing
files. Values of --var, such as the path of a checkout,
are kept in `+varsFile+`, which --var-file reads. The kinds of projects are

`+about,
		`  fevalgraph init evals
  cd evals && fevalgraph run
  fevalgraph init --kind judge contest
  fevalgraph init --kind harbor --var tasks=/data/tasks graded`,
		func(cmd *cobra.Command, args []string) error {
			dir := a.flags.dir
			if len(args) == 1 {
				dir = filepath.Join(dir, args[0])
				if filepath.IsAbs(args[0]) {
					dir = args[0]
				}
			}
			return a.runInit(dir, kind)
		})
	cmd.Flags().StringVar(&kind, "kind", kind, strings.Join(starterKinds(), ", "))
	cmd.Args = arguments(0, 1, "DIR")
	return cmd
}

func (a *app) runInit(dir, kind string) error {
	at := slices.IndexFunc(examples.Starters, func(s examples.Starter) bool { return s.Kind == kind })
	if at < 0 {
		return exit.With(exit.Usage, text.Unknown("kind of project", kind, starterKinds()))
	}
	made := examples.Starters[at]
	absent := func(name string) error {
		_, err := os.Lstat(filepath.Join(dir, name))
		switch {
		case err == nil:
			return fmt.Errorf("%s already exists; init does not overwrite files", filepath.Join(dir, name))
		case errors.Is(err, fs.ErrNotExist):
			return nil
		}
		return err
	}
	// Embedded files have no time. CopyFS does not overwrite, but fails only after writing other files, so
	// check first.
	var err error
	for _, part := range made.Parts() {
		err = cmp.Or(err, fs.WalkDir(part.Files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return absent(filepath.Join(part.At, name))
		}))
	}
	if err == nil && len(a.flags.vars) > 0 {
		err = absent(varsFile)
	}
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	for _, part := range made.Parts() {
		if err := copyPart(filepath.Join(orDot(dir), part.At), part.Files); err != nil {
			return exit.With(exit.NotJudged, fmt.Errorf("writing the project: %w", err))
		}
	}
	// An existing .gitignore is the user's.
	if err := create(filepath.Join(dir, ".gitignore"), gitIgnore); err != nil && !errors.Is(err, fs.ErrExist) {
		return exit.With(exit.NotJudged, fmt.Errorf("writing the project: %w", err))
	}
	o := a.options()
	o.Dir, o.File = dir, ""
	if err := options.MakeState(o.StateDir()); err != nil {
		return exit.With(exit.NotJudged, fmt.Errorf("writing the project: %w", err))
	}
	next := made.Next
	if len(a.flags.vars) > 0 {
		if err := create(filepath.Join(dir, varsFile), varsText(a.flags.vars)); err != nil {
			return exit.With(exit.NotJudged, fmt.Errorf("writing the project: %w", err))
		}
		command, _, _ := strings.Cut(next, " --var ")
		next = command + " --var-file " + varsFile
	}
	if !a.flags.quiet {
		if dir != "" && filepath.Clean(dir) != "." {
			next = "-C " + dir + " " + next
		}
		fmt.Fprintf(a.io.Out, "wrote %s: %s\nnext: fevalgraph %s\n", orDot(dir), made.About, next)
	}
	return nil
}

// copyPart writes files, and makes scripts executable, since embedding loses modes.
func copyPart(dir string, files fs.FS) error {
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err == nil && bytes.HasPrefix(content, []byte("#!")) {
			err = os.Chmod(filepath.Join(dir, name), 0o755)
		}
		return err
	})
}

// create writes a file that must not exist.
func create(file, text string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	return err
}

// varsFile stores the values given to init. It is not read by default: a path outside of the project only
// counts if the user passes it.
const varsFile = "local.vars.hcl"

// varsText returns NAME=VALUE arguments as attributes. Relative paths of existing files become absolute, since
// the project can be in another directory.
func varsText(vars []string) string {
	var b strings.Builder
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		if _, err := os.Stat(value); err == nil {
			if abs, err := filepath.Abs(value); err == nil {
				value = abs
			}
		}
		fmt.Fprintf(&b, "%s = %s\n", name, strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(value)))
	}
	return b.String()
}

// gitIgnore excludes run records and partitions from a repository, but not the lock file.
const gitIgnore = "/.fevalgraph/\n"

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
