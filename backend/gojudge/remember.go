package gojudge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// A server that a run starts uses the compilers of this machine. Their answers stay valid while their
// files, go-judge's file and the list of installed packages are unchanged, so that a run without work
// starts no server.

// memory returns the path of the file for an identity, named by the files that it depends on, or "" if
// these cannot be determined.
func (s *Sandbox) memory() (string, error) {
	binary, err := s.server.opt.find()
	if err != nil {
		return "", err
	}
	about := []string{"1", runtime.GOOS, runtime.GOARCH, fileState(binary)}
	for _, list := range []string{"/var/lib/dpkg/status", "/lib/apk/db/installed", "/var/lib/rpm/rpmdb.sqlite", "/var/lib/pacman/local"} {
		about = append(about, fileState(list))
	}
	for _, command := range s.opt.Versions {
		if !plainCommand().MatchString(command) {
			return "", nil // it can depend on anything
		}
		tool, _, _ := strings.Cut(command, " ")
		about = append(about, command)
		if filepath.IsAbs(tool) {
			about = append(about, fileState(tool))
			continue
		}
		for _, dir := range filepath.SplitList(searchPath) {
			about = append(about, fileState(filepath.Join(dir, tool)))
		}
	}
	text, err := json.Marshal(about)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return filepath.Join(s.opt.Facts, hex.EncodeToString(sum[:])+".json"), nil
}

// plainCommand matches commands that run one program and contain no shell syntax.
var plainCommand = lazyregexp.New(`^[A-Za-z0-9_/.+-]+( [A-Za-z0-9_/.+=:,-]+)*$`)

// fileState describes the state of a file: it differs after any change of the content.
func fileState(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "absent"
	}
	info, err := os.Stat(real)
	if err != nil {
		return "absent"
	}
	return fmt.Sprintf("%s %d %d %s", real, info.Size(), info.ModTime().UnixNano(), inode(info))
}

// recall returns the stored identity, or nil if it is missing or not proven.
func (s *Sandbox) recall(name string) backend.Identity {
	if name == "" {
		return nil
	}
	var known backend.Identity
	if json.Unmarshal(s.opt.Place.Read(name), &known) != nil || len(known) < 2 {
		return nil
	}
	return known
}

// remember stores an identity. It is best effort: without it, the next run queries again.
func (s *Sandbox) remember(name string, identity backend.Identity) {
	text, err := json.Marshal(identity)
	if err == nil && name != "" && os.MkdirAll(filepath.Dir(name), 0o755) == nil {
		_ = s.opt.Place.Write(name, 0o644, text)
	}
}
