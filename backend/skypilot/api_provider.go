package skypilot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend/skypilot/api"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// provider implements Provider with an API server and the task for its clusters.
type provider struct {
	client *api.Client
	own    *localServer // nil if the configuration names a server
	task   api.Task     // without commands
}

// request makes a request. It starts a local server if necessary.
func (p *provider) request(ctx context.Context, do func() error) error {
	err := do()
	if p.own == nil || !api.Unreachable(err) {
		return err
	}
	if err := p.own.ensure(ctx); err != nil {
		return err
	}
	return do()
}

// askEvery is the interval of requests to an unreachable server.
const askEvery = 2 * time.Second

// retryUnreachable repeats a request until the server answers it.
func (p *provider) retryUnreachable(ctx context.Context, do func() error) error {
	var last error
	err := retry.Patience{For: retry.Forever, Pause: askEvery}.Do(ctx, api.Unreachable, func() error {
		last = p.request(ctx, do)
		return last
	})
	if last != nil && ctx.Err() != nil {
		return fmt.Errorf("%w (the last answer: %w)", err, last)
	}
	return err
}

// Ready implements Provider.
func (p *provider) Ready(ctx context.Context) error {
	return withHint(p.retryUnreachable(ctx, func() error {
		_, err := p.client.Health(ctx)
		return err
	}))
}

// Launch implements Provider. It waits for an unreachable server, and repeats the request if the server
// was restarted meanwhile: the name of the cluster makes the request idempotent.
func (p *provider) Launch(ctx context.Context, cluster string, t Task) error {
	task := p.task
	task.Name, task.Run = "fevalgraph", t.Run
	if len(t.Setup) > 0 {
		task.Setup = "set -e\n" + strings.Join(t.Setup, "\n")
	}
	for {
		var request string
		err := p.retryUnreachable(ctx, func() (err error) {
			request, err = p.client.Launch(ctx, cluster, task)
			return err
		})
		if err != nil {
			return err
		}
		err = p.retryUnreachable(ctx, func() error {
			_, err := p.client.WaitLaunched(ctx, request)
			return err
		})
		if ctx.Err() != nil {
			short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			return errors.Join(context.Cause(ctx), p.client.Cancel(short, request))
		}
		if err == nil || api.KindOf(err) != api.KindEnded {
			return withHint(err)
		}
	}
}

// withHint adds a hint for the user to an error of the provider.
func withHint(err error) error {
	if err == nil {
		return nil
	}
	hint := map[api.Kind]string{
		api.KindCapacity: "such machines are not available now: run again later, or change resources",
		api.KindQuota:    "raise the account's quota, or change resources",
		api.KindSetup:    "see `sky logs` and cluster_setup",
		api.KindAuth:     "see `sky check`",
		api.KindInvalid:  "see infra and resources of the backend",
	}[api.KindOf(err)]
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w (hint: %s)", err, hint)
}

// State implements Provider.
func (p *provider) State(ctx context.Context, cluster string) (State, error) {
	var found []api.Cluster
	err := p.request(ctx, func() (err error) {
		found, err = p.client.Refresh(ctx, []string{cluster})
		return err
	})
	switch {
	case api.NoSuchCluster(err), err == nil && len(found) == 0:
		return Gone, nil
	case err != nil:
		return "", err
	case found[0].Status == "UP":
		return Up, nil
	case found[0].Status == "INIT" && found[0].InitKind != "unhealthy":
		return Starting, nil
	}
	return Gone, nil
}

// logLines is how many lines of a failed job's log are read; some are SkyPilot's own.
const logLines = 25

// Failed implements Provider.
func (p *provider) Failed(ctx context.Context, cluster string) error {
	jobs, err := p.client.Queue(ctx, cluster)
	if err != nil || len(jobs) == 0 || !jobs[0].Status.Ended() {
		return nil // State reports if the cluster is gone
	}
	var log bytes.Buffer
	err = p.client.Logs(ctx, &log, cluster, jobs[0].ID, logLines, false)
	said := api.Said(log.String())
	if last := said[strings.LastIndexByte(said, '\n')+1:]; last != said { // the most informative one
		said = last + "\n" + said
	}
	if jobs[0].Status == api.JobFailedSetup {
		return errors.Join(fmt.Errorf("cluster_setup failed: %s", said), err)
	}
	return errors.Join(fmt.Errorf("its job is %s: %s", jobs[0].Status, said), err)
}

// End implements Provider.
func (p *provider) End(ctx context.Context, cluster string) error {
	err := p.retryUnreachable(ctx, func() error { return p.client.Down(ctx, cluster) })
	if api.NoSuchCluster(err) {
		return nil
	}
	return err
}

// clock formats a duration as Slurm reads it: hours, minutes, seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return strconv.Itoa(s/3600) + fmt.Sprintf(":%02d:%02d", s/60%60, s%60)
}
