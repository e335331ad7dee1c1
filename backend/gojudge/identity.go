package gojudge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Identity implements backend.Sandbox. It returns the platform, the version of go-judge, the output of each command in
// Options.Versions, and limits of this process that the server inherits. If the answers of an earlier run are still
// valid, it does not start the server.
func (s *Sandbox) Identity(ctx context.Context) (backend.Identity, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	identity, err := s.known(ctx)
	if err == nil && s.server.opt != nil { // programs inherit what go-judge does not set
		identity = append(slices.Clip(identity), backend.FindLowLimits().Identity()...)
	}
	return identity, err
}

func (s *Sandbox) known(ctx context.Context) (backend.Identity, error) {
	if s.opt.Facts == "" || s.server.opt == nil {
		return s.ask(ctx)
	}
	name, err := s.memory()
	if err != nil {
		return nil, err // the program is missing
	}
	if found := s.recall(name); found != nil {
		return found, nil
	}
	identity, err := s.ask(ctx)
	if err == nil && !s.opt.FactsReadOnly {
		s.remember(name, identity)
	}
	return identity, err
}

// resourcePatience is how long to wait for resources that other work of the machine uses: without an answer, no
// cell can be judged.
var resourcePatience = retry.Patience{For: 20 * time.Second, Pause: 100 * time.Millisecond, Longest: 2 * time.Second}

func (s *Sandbox) ask(ctx context.Context) (backend.Identity, error) {
	c, err := s.server.use(ctx)
	if err != nil {
		return nil, err
	}
	identity := backend.Identity{
		{Label: "platform", Value: c.about.OS + "/" + c.about.Platform},
		{Label: "go-judge", Value: c.about.BuildVersion},
	}
	if c.process != nil && c.process.opt.Rlimits && len(groups(c.process.id)) == 0 {
		identity = append(identity, backend.Field{Label: "memory limits", Value: "of each process"})
	}
	for i, command := range s.opt.Versions {
		if slices.Contains(s.opt.Versions[:i], command) {
			continue
		}
		var said string
		err := resourcePatience.Do(ctx, exhaustion.Is, func() (err error) {
			said, err = s.version(ctx, command)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("asking %q: %w", command, err)
		}
		identity = append(identity, backend.Field{Label: "output of " + command, Value: said})
	}
	return identity, nil
}

// version returns the output of a command. A failure of the command is not an error.
func (s *Sandbox) version(ctx context.Context, command string) (string, error) {
	// Calls with read access query versions, too: the output must not reach the server's store.
	store := cache.NewMemory()
	ends, err := s.run(ctx, store, []backend.Program{{
		Argv: []string{"/bin/sh", "-c", command}, Env: []string{"PATH=" + searchPath},
		Limits: backend.Limits{CPU: 20 * time.Second, Clock: time.Minute, Memory: 1 << 30, Processes: 64, Stdout: 64 << 10, Stderr: 4 << 10},
	}})
	if err != nil {
		return "", err
	}
	end := ends[0]
	printed, err := cache.ReadBlob(ctx, store, end.Stdout, -1)
	if err != nil {
		return "", err
	}
	said := strings.TrimSpace(string(printed))
	switch {
	case end.Status == backend.Exited && end.Code == 0:
		return said, nil
	case end.Status == backend.Exited:
		return strings.TrimSpace(fmt.Sprintf("%s\nexit %d: %s", said, end.Code, strings.TrimSpace(string(end.Stderr)))), nil
	}
	return "", fmt.Errorf("it ended with %s", end.Status)
}

// searchPath is the PATH of the commands of Options.Versions.
const searchPath = "/usr/bin:/bin"
