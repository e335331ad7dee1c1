package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// leftovers returns the project's objects on a daemon that no living run owns. Runs share images, so
// images are returned only if no run is alive.
func leftovers(ctx context.Context, s *kind.Site, daemon *Daemon) ([]Leftover, error) {
	found, err := daemon.Leftovers(ctx, s.Project(8))
	if err != nil {
		return nil, err
	}
	lives := map[string]bool{}
	for _, l := range found {
		if _, asked := lives[l.Run]; asked || l.IsImage() {
			continue
		}
		if lives[l.Run], err = s.Living(l.Run); err != nil {
			return nil, err
		}
	}
	living := false
	for _, l := range found {
		living = living || lives[l.Run]
	}
	return slices.DeleteFunc(found, func(l Leftover) bool { return lives[l.Run] || l.IsImage() && living }), nil
}

// clean removes as many of them as possible. It returns nil if no daemon could be tried.
func clean(ctx context.Context, s *kind.Site) (*kind.RemovedContainers, error) {
	daemon, err := daemonOf(s)
	if err != nil {
		return nil, err
	}
	left, err := leftovers(ctx, s, daemon)
	if err != nil {
		return nil, err
	}
	removed := &kind.RemovedContainers{Host: daemon.Host()}
	var errs []error
	for _, l := range left {
		err := daemon.Remove(ctx, l)
		switch {
		case err != nil:
			errs = append(errs, err)
		case l.Kind == LeftNetwork:
			removed.Networks++
		case l.IsImage():
			removed.Images++
		default:
			removed.Containers++
		}
		if err == nil && l.Kind == LeftBuilt {
			removed.Built++
		}
	}
	return removed, errors.Join(errs...)
}

// doctorPatience limits how long the doctor waits for a daemon.
const doctorPatience = 10 * time.Second

// check queries the daemon if the configuration has a backend for it, or if asked is set.
func check(ctx context.Context, s *kind.Site, cfg *lang.Config, asked bool) []kind.Finding {
	state, needed := "warning", false
	if cfg != nil {
		needed = slices.ContainsFunc(cfg.Backends, func(b *lang.Backend) bool { return b.Kind == Kind })
	}
	if needed {
		state = "missing"
	}
	if !needed && !asked {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	daemon, err := daemonOf(s)
	if err != nil {
		return []kind.Finding{{Subject: "docker", State: state, Detail: err.Error()}}
	}
	version, err := daemon.Version(ctx)
	if err != nil {
		return []kind.Finding{{Subject: "docker", State: state, Detail: err.Error()}}
	}
	rootless := ""
	if version.Rootless {
		rootless = ", rootless"
	}
	found := []kind.Finding{{Subject: "docker", State: "ok", Detail: fmt.Sprintf("Docker %s (API %s, %s%s) at %s", version.Engine, version.API, version.Platform, rootless, daemon.Host())}}
	return append(found, checkContainers(ctx, s, daemon)...)
}

func checkContainers(ctx context.Context, s *kind.Site, daemon *Daemon) []kind.Finding {
	left, err := leftovers(ctx, s, daemon)
	if err != nil {
		return []kind.Finding{{Subject: "containers", State: "warning", Detail: err.Error()}}
	}
	var found []kind.Finding
	containers, kept, networks, images, built, bytes := 0, 0, 0, 0, 0, int64(0)
	for _, l := range left {
		switch {
		case l.Kind == LeftSnapshot:
			images++
			bytes += l.Bytes
		case l.Kind == LeftBuilt:
			built++
		case l.Kind == LeftNetwork:
			networks++
		case l.Kept:
			kept++
			found = append(found, kind.Finding{Subject: "kept", State: "ok", Detail: l.Node + ": " + l.Enter})
		default:
			containers++
		}
	}
	said := fmt.Sprintf("%d left behind, %d kept on purpose; %s with downloads of uv, %s", containers, kept, text.Count(images, "image"), text.Bytes(bytes))
	if networks > 0 {
		said += "; " + text.Count(networks, "network")
	}
	if built > 0 {
		said += fmt.Sprintf("; %s built from a Dockerfile", text.Count(built, "image"))
	}
	judged := "ok"
	if containers+networks > 0 {
		judged = "warning"
	}
	if containers+kept+networks > 0 {
		said += "; `fevalgraph clean --containers` removes them"
	}
	return append([]kind.Finding{{Subject: "containers", State: judged, Detail: said}}, found...)
}
