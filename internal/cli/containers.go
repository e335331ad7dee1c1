package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// leftovers are the project's things on a daemon that no living run owns.
// Images are shared by runs, so that they are nobody's only when none lives.
func (a *app) leftovers(ctx context.Context, daemon *docker.Daemon, state string) ([]docker.Leftover, error) {
	found, err := daemon.Leftovers(ctx, projectID(state))
	if err != nil {
		return nil, err
	}
	lives := map[string]bool{}
	for _, l := range found {
		if _, asked := lives[l.Run]; asked || l.IsImage() {
			continue
		}
		if lives[l.Run], err = backend.Living(filepath.Join(state, "sessions"), l.Run); err != nil {
			return nil, err
		}
	}
	any := false
	for _, l := range found {
		any = any || lives[l.Run]
	}
	return slices.DeleteFunc(found, func(l docker.Leftover) bool { return lives[l.Run] || l.IsImage() && any }), nil
}

// cleanContainers removes them, as many as can be.
func (a *app) cleanContainers(ctx context.Context, state string) error {
	daemon, err := a.connect("")
	if err != nil {
		return err
	}
	defer daemon.Close()
	left, err := a.leftovers(ctx, daemon, state)
	if err != nil {
		return err
	}
	containers, images, built := 0, 0, 0
	var errs []error
	for _, l := range left {
		err := daemon.Remove(ctx, l)
		switch {
		case err != nil:
			errs = append(errs, err)
		case l.IsImage():
			images++
		default:
			containers++
		}
		if err == nil && l.Built {
			built++
		}
	}
	which := ""
	if built > 0 {
		which = fmt.Sprintf(", %d of which built from a Dockerfile,", built)
	}
	fmt.Fprintf(a.io.Out, "removed %s and %s%s from %s\n", text.Count(containers, "container"), text.Count(images, "image"), which, daemon.Host())
	return errors.Join(errs...)
}

// doctorPatience bounds what the doctor waits for a daemon.
const doctorPatience = 10 * time.Second

// checkDocker asks the daemon when the configuration has a backend for it, or
// when asked to.
func (a *app) checkDocker(ctx context.Context, cfg *lang.Config, asked bool) []finding {
	state, needed := "warning", false
	if cfg != nil {
		needed = slices.ContainsFunc(cfg.Backends, func(b *lang.Backend) bool { return b.Kind == docker.Kind })
	}
	if needed {
		state = "missing"
	}
	if !needed && !asked {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	daemon, err := a.connect("")
	if err != nil {
		return []finding{{"docker", state, err.Error()}}
	}
	defer daemon.Close()
	version, err := daemon.Version(ctx)
	if err != nil {
		return []finding{{"docker", state, err.Error()}}
	}
	rootless := ""
	if version.Rootless {
		rootless = ", without root"
	}
	found := []finding{{"docker", "ok", fmt.Sprintf("Docker %s (API %s, %s%s) at %s", version.Engine, version.API, version.Platform, rootless, daemon.Host())}}
	return append(found, a.checkContainers(ctx, daemon)...)
}

func (a *app) checkContainers(ctx context.Context, daemon *docker.Daemon) []finding {
	left, err := a.leftovers(ctx, daemon, a.projectState())
	if err != nil {
		return []finding{{"containers", "warning", err.Error()}}
	}
	var found []finding
	containers, kept, images, built, bytes := 0, 0, 0, 0, int64(0)
	for _, l := range left {
		switch {
		case l.Ground:
			images++
			bytes += l.Bytes
		case l.Built:
			built++
		case l.Kept:
			kept++
			found = append(found, finding{"kept", "ok", l.Node + ": " + l.Enter})
		default:
			containers++
		}
	}
	said := fmt.Sprintf("%d left behind, %d kept on purpose; %s of what uv fetched, %s", containers, kept, text.Count(images, "image"), text.Bytes(bytes))
	if built > 0 {
		said += fmt.Sprintf("; %s built from a Dockerfile", text.Count(built, "image"))
	}
	state := "ok"
	if containers > 0 {
		state = "warning"
	}
	if containers+kept > 0 {
		said += "; `fevalgraph clean --containers` removes them"
	}
	return append([]finding{{"containers", state, said}}, found...)
}
