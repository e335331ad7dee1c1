package eval

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
// Images are shared by runs, so they are returned only when no run lives.
func leftovers(ctx context.Context, daemon *docker.Daemon, state string) ([]docker.Leftover, error) {
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

// RemovedContainers counts what was removed from a Docker daemon.
type RemovedContainers struct {
	Containers, Images int
	Built              int    // images among these that were built from a Dockerfile
	Host               string // of the daemon
}

// cleanContainers removes them, as many as can be. What it returns is nil when
// nothing could be tried.
func (o *Options) cleanContainers(ctx context.Context, state string) (*RemovedContainers, error) {
	daemon, err := connect("", o.lookupEnv)
	if err != nil {
		return nil, err
	}
	defer daemon.Close()
	left, err := leftovers(ctx, daemon, state)
	if err != nil {
		return nil, err
	}
	removed := &RemovedContainers{Host: daemon.Host()}
	var errs []error
	for _, l := range left {
		err := daemon.Remove(ctx, l)
		switch {
		case err != nil:
			errs = append(errs, err)
		case l.IsImage():
			removed.Images++
		default:
			removed.Containers++
		}
		if err == nil && l.Built {
			removed.Built++
		}
	}
	return removed, errors.Join(errs...)
}

// doctorPatience bounds what the doctor waits for a daemon.
const doctorPatience = 10 * time.Second

// checkDocker asks the daemon when the configuration has a backend for it, or
// when asked to.
func checkDocker(ctx context.Context, o *Options, cfg *lang.Config, asked bool) []Finding {
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
	daemon, err := connect("", o.lookupEnv)
	if err != nil {
		return []Finding{{"docker", state, err.Error()}}
	}
	defer daemon.Close()
	version, err := daemon.Version(ctx)
	if err != nil {
		return []Finding{{"docker", state, err.Error()}}
	}
	rootless := ""
	if version.Rootless {
		rootless = ", without root"
	}
	found := []Finding{{"docker", "ok", fmt.Sprintf("Docker %s (API %s, %s%s) at %s", version.Engine, version.API, version.Platform, rootless, daemon.Host())}}
	return append(found, checkContainers(ctx, daemon, o.StateDir())...)
}

func checkContainers(ctx context.Context, daemon *docker.Daemon, state string) []Finding {
	left, err := leftovers(ctx, daemon, state)
	if err != nil {
		return []Finding{{"containers", "warning", err.Error()}}
	}
	var found []Finding
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
			found = append(found, Finding{"kept", "ok", l.Node + ": " + l.Enter})
		default:
			containers++
		}
	}
	said := fmt.Sprintf("%d left behind, %d kept on purpose; %s of what uv fetched, %s", containers, kept, text.Count(images, "image"), text.Bytes(bytes))
	if built > 0 {
		said += fmt.Sprintf("; %s built from a Dockerfile", text.Count(built, "image"))
	}
	judged := "ok"
	if containers > 0 {
		judged = "warning"
	}
	if containers+kept > 0 {
		said += "; `fevalgraph clean --containers` removes them"
	}
	return append([]Finding{{"containers", judged, said}}, found...)
}
