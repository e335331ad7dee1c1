package main

import (
	"context"
	"fmt"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

// runBare runs the command in a container and removes that, by nothing but the
// calls it takes.
func runBare(ctx context.Context, api *client.Client, p plan, s *series) error {
	s.begin()
	made, err := api.ContainerCreate(ctx, &container.Config{Image: p.Image, Cmd: p.Command},
		&container.HostConfig{NetworkMode: container.NetworkMode(p.Network)}, nil, nil, "")
	if err != nil {
		return fmt.Errorf("creating a bare container: %w", err)
	}
	s.step("create")
	// Also after a failure: a measurement leaves nothing.
	remove := func() error {
		return api.ContainerRemove(context.WithoutCancel(ctx), made.ID, container.RemoveOptions{Force: true})
	}
	if err := startAndWait(ctx, api, made.ID, s); err != nil {
		_ = remove()
		return err
	}
	if err := remove(); err != nil {
		return fmt.Errorf("removing a bare container: %w", err)
	}
	s.step("remove")
	s.end()
	return nil
}

func startAndWait(ctx context.Context, api *client.Client, id string, s *series) error {
	ended, failed := api.ContainerWait(ctx, id, container.WaitConditionNextExit)
	if err := api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return fmt.Errorf("starting a bare container: %w", err)
	}
	s.step("start")
	select {
	case status := <-ended:
		if status.StatusCode != 0 {
			return fmt.Errorf("the command of a bare container ended with %d", status.StatusCode)
		}
	case err := <-failed:
		return fmt.Errorf("waiting for a bare container: %w", err)
	}
	s.step("wait")
	return nil
}
