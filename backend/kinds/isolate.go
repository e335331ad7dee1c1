package kinds

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/eval/kind"
)

// isolationVariable is the variable with the level of isolation if the
// configuration does not set it.
const isolationVariable = "FEVALGRAPH_ISOLATION"

// isolate sets the readable and hidden paths of o.
func isolate(s *kind.Site, o *local.Options, readable, unhashed []string) error {
	if o.Isolation == "" {
		o.Isolation, _ = s.LookupEnv(isolationVariable)
		if o.Isolation != "" && !slices.Contains(isolation.Levels(), o.Isolation) {
			return fmt.Errorf("%s=%s: want one of %s", isolationVariable, o.Isolation, strings.Join(isolation.Levels(), ", "))
		}
	}
	home, _ := s.LookupEnv("HOME")
	if real, err := filepath.EvalSymlinks(home); err == nil && filepath.IsAbs(real) {
		o.Home = real
	}
	for _, dir := range []string{s.UserState, s.Root, s.State} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		} // otherwise it could be created later
		if filepath.IsAbs(dir) {
			o.Hidden = append(o.Hidden, dir)
		}
	}
	absolute := func(path string) string {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Root, path)
		}
		return filepath.Clean(path)
	}
	for _, path := range unhashed {
		o.Unhashed = append(o.Unhashed, absolute(path))
	}
	o.ReadableNames = slices.Concat(readable, unhashed)
	for _, path := range o.ReadableNames {
		o.Readable = append(o.Readable, absolute(path))
	}
	return nil
}
