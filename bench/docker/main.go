// Command docker measures what a session of backend/docker costs beside a bare
// container of the same image that runs the same command:
//
//	DOCKER_HOST=... go run -C bench ./docker -image IMAGE [-rounds N] [-network NAME] [-json] [COMMAND...]
//
// A bare container is created, started, waited for and removed, and nothing
// else: no file gets in or out, what it prints is not read. A session is what
// a cell of a pytest problem has: it is opened with a submission of a dozen
// files, gets as many test files, runs the command, hands out a report and is
// closed, so that nothing is left. Both are on the same network and use the same
// client library. The command is "true" unless it is given, since whatever the
// command takes hides what the rest costs.
//
// The two take turns, and every round begins with the next one, so that
// whatever else the machine does meets all. A first round is not counted. The
// figures are medians, over all of each and by step; the steps of a session are
// those of backend.Session, so its container is created within exec. The last
// line is the ratio of sessions to bare containers or, with -json, everything as
// one object.
//
// It has no opinion of what the ratio should be, and exits with 1 only when
// something fails.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/docker/docker/client"

	"github.com/fevalgraph/fevalgraph/backend/docker"
)

// plan is what is measured.
type plan struct {
	Image   string   `json:"image"`
	Network string   `json:"network"`
	Command []string `json:"command"`
	Rounds  int      `json:"rounds"`
}

func main() {
	var p plan
	flag.StringVar(&p.Image, "image", "", "image that the daemon has")
	flag.StringVar(&p.Network, "network", docker.DefaultNetwork, "network of all")
	flag.IntVar(&p.Rounds, "rounds", 20, "how many of each are counted")
	asJSON := flag.Bool("json", false, "print one JSON object as the last line")
	flag.Parse()
	p.Command = flag.Args()
	if len(p.Command) == 0 {
		p.Command = []string{"true"}
	}
	if p.Image == "" || p.Rounds < 1 {
		fmt.Fprintln(os.Stderr, "usage: docker -image IMAGE [-rounds N] [-network NAME] [-json] [COMMAND...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, p, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "docker:", err)
		os.Exit(1)
	}
}

// measure takes the figures and prints them.
func measure(ctx context.Context, p plan, asJSON bool) (err error) {
	e := docker.Endpoint{Host: cmp.Or(os.Getenv("DOCKER_HOST"), docker.DefaultHost)}
	daemon, err := docker.Connect(e)
	if err != nil {
		return err
	}
	defer daemon.Close()
	api, err := client.NewClientWithOpts(client.WithHost(e.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		return err
	}
	defer api.Close()
	sessions, err := openSessions(p, daemon)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.close()) }()

	bare, ours := newSeries(), newSeries()
	all := []func() error{
		func() error { return runBare(ctx, api, p, bare) },
		func() error { return sessions.run(ctx, ours) },
	}
	for round := range p.Rounds + 1 {
		for i := range all {
			if err := all[(round+i)%len(all)](); err != nil {
				return err
			}
		}
		if round == 0 {
			bare.forget()
			ours.forget()
		}
	}
	return newFigures(p, bare, ours).write(os.Stdout, asJSON)
}
