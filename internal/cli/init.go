package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
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
		about += fmt.Sprintf("  %-14s %s\n", s.Kind, s.About)
	}
	cmd := command("init [DIR]", "Write a small project to start from",
		`Init writes a configuration with all that it needs into DIR (the current
directory by default), and a .gitignore for what runs leave there. Files that
exist are never overwritten. The kinds of projects are

`+about,
		`  fevalgraph init evals
  cd evals && fevalgraph run
  fevalgraph init --kind judge contest`,
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
	project := made.Files()
	// The embedded time of files is none; CopyFS refuses to overwrite, but
	// only after it has written others, so look first.
	err := fs.WalkDir(project, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s exists already; init writes only into a place without it", filepath.Join(dir, name))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := os.CopyFS(orDot(dir), project); err != nil {
		return exit.With(exit.NotJudged, fmt.Errorf("writing the project: %w", err))
	}
	// One that is there is the user's.
	ignored, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = ignored.WriteString(gitIgnore)
		err = errors.Join(err, ignored.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return exit.With(exit.NotJudged, fmt.Errorf("writing the project: %w", err))
	}
	o := a.options()
	o.Dir, o.File = dir, ""
	if err := o.MakeStateDir(); err != nil {
		return exit.With(exit.NotJudged, fmt.Errorf("writing the project: %w", err))
	}
	if !a.flags.quiet {
		fmt.Fprintf(a.io.Out, "wrote %s: %s\nnext: fevalgraph -C %s %s\n", orDot(dir), made.About, orDot(dir), made.Next)
	}
	return nil
}

// gitIgnore keeps run records and the build log out of a repository. The lock file
// belongs there.
const gitIgnore = "/.fevalgraph/\n"

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
