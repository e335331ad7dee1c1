package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// A snapshot is an image: the backend's image with the files that a command left at PreparedPath. It needs
// neither the network nor this machine's files. Its files belong to a user that runs no commands, so that
// no submission can change the files that it, or another, is judged with: without capabilities, even root
// cannot write to them.

const (
	snapshotRepository = "fevalgraph/snapshot"
	// LabelSnapshot marks images that are snapshots. They have LabelProject, too.
	LabelSnapshot = "fevalgraph.snapshot"

	// PreparedPath is the directory that a snapshot keeps.
	PreparedPath = "/fevalgraph/prepared"

	// fetchedPath is XDG_CACHE_HOME of such a command. It is next to PreparedPath so that uv can link its
	// files, and has enough room.
	fetchedPath = "/fevalgraph/fetched"

	// preparer is the id of the owner of a snapshot's files. No image uses it, and it also exists on daemons
	// with user namespaces.
	preparer = 61187

	// snapshotRecipe must be incremented if snapshots are created differently.
	snapshotRecipe = 2
)

// Prepare implements backend.Backend. It reuses a snapshot of any run for the same image, user and name.
// Only files that cmd leaves below PreparedPath are kept.
func (b *Backend) Prepare(ctx context.Context, name string, cmd backend.Command) (snapshot string, exit backend.Exit, err error) {
	snapshot, exit, err = b.prepare(ctx, name, cmd)
	if err != nil {
		return "", exit, fmt.Errorf("preparing a snapshot: %w", err)
	}
	return snapshot, exit, nil
}

func (b *Backend) prepare(ctx context.Context, name string, cmd backend.Command) (string, backend.Exit, error) {
	image, found, err := b.resolve(ctx)
	if err != nil {
		return "", backend.Exit{}, err
	}
	snapshot := snapshotRepository + ":" + snapshotTag(image.id, b.user(image), name)
	_, err = b.d.inspect(ctx, Options{Origin: Origin{Image: snapshot}})
	if err == nil || !errdefs.IsNotFound(err) {
		return snapshot, backend.Exit{}, err
	}
	// By default, uv would leave compiling to each session.
	cmd.Env = append(append([]string{"XDG_CACHE_HOME=" + fetchedPath}, cmd.Env...), "UV_COMPILE_BYTECODE=1")
	cmd.Dir, cmd.Env = "", environment(image, cmd.Env)
	var exit backend.Exit
	maker := oneShotContainer{
		b: b, image: image, name: "prepare", on: b.opt.network(true),
		mounts: []mount.Mount{{Type: mount.TypeTmpfs, Target: homePath}, {Type: mount.TypeTmpfs, Target: tempPath}},
		before: func(ctx context.Context, id string) error {
			return errors.Join(b.d.makeOwn(ctx, id, PreparedPath, found), b.d.makeOwn(ctx, id, fetchedPath, found))
		},
		run: func(ctx context.Context, r *runner) (err error) {
			exit, err = r.run(ctx, cmd)
			exit = b.reachedLimit(exit)
			return err
		},
	}
	maker.after = func(ctx context.Context, id string) error {
		if !exit.Succeeded() {
			return nil
		}
		keeper := oneShotContainer{
			b: b, image: image, name: "snapshot", on: noNetwork,
			before: func(ctx context.Context, to string) error { return b.d.handOver(ctx, id, to) },
			after:  func(ctx context.Context, id string) error { return b.commit(ctx, id, snapshot) },
		}
		return keeper.do(ctx)
	}
	if err := maker.do(ctx); err != nil {
		return "", backend.Exit{}, err
	}
	if !exit.Succeeded() {
		return "", exit, nil
	}
	return snapshot, exit, nil
}

// snapshotTag returns a digest of what a snapshot depends on.
func snapshotTag(parts ...string) string {
	h := sha256.New()
	for _, part := range append([]string{fmt.Sprint(snapshotRecipe)}, parts...) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// commit creates an image from a stopped container.
func (b *Backend) commit(ctx context.Context, id, reference string) error {
	ctx, cancel := b.d.call(ctx)
	defer cancel()
	_, err := b.d.api.ContainerCommit(ctx, id, container.CommitOptions{
		Reference: reference, Comment: "made by fevalgraph",
		Changes: []string{fmt.Sprintf("LABEL %s=%q %s=true", LabelProject, b.opt.Project, LabelSnapshot)},
	})
	if err != nil {
		return fmt.Errorf("keeping the fetched files: %w", b.d.explain(err))
	}
	return nil
}

// makeOwn creates a directory for the user of commands in a container that does not run.
func (d *Daemon) makeOwn(ctx context.Context, id, dir string, owner *facts) error {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: 0o755, Uid: owner.uid, Gid: owner.gid})
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	ctx, cancel := d.call(ctx)
	defer cancel()
	if err := d.api.CopyToContainer(ctx, id, "/", &archive, container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("creating %s in the container: %w", dir, d.explain(err))
	}
	return nil
}

// oneShotContainer is a container without a session.
type oneShotContainer struct {
	b      *Backend
	image  *resolvedImage
	name   string // for users
	on     string // network
	mounts []mount.Mount
	before func(ctx context.Context, id string) error // called before the start; can be nil
	run    func(ctx context.Context, r *runner) error // called in the running container; nil does not start it
	after  func(ctx context.Context, id string) error // called after the end, before the removal; can be nil
}

func (o *oneShotContainer) do(ctx context.Context) (err error) {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	b, id := o.b, workspace.NewID()
	if err := b.register(backend.Entry{ID: id, Name: o.name}); err != nil {
		return err
	}
	c := b.newBox(id)
	defer func() {
		removed := c.discard(ctx)
		if removed == nil {
			removed = b.unregister(id)
		}
		err = errors.Join(err, removed)
	}()
	plan := b.blueprint(o.image, id, o.name, o.mounts)
	plan.opt.GPUs = "" // only tests need a program: queries work without
	plan.first.Work, plan.copied = tempPath, o.run != nil
	if err := c.create(ctx, plan, o.on); err != nil {
		return err
	}
	if o.before != nil {
		if err := o.before(ctx, c.id); err != nil {
			return err
		}
	}
	if o.run != nil {
		if err := c.start(ctx, b.store, backend.Spec{Name: o.name}, b.opt.Grace); err != nil {
			b.forget(err)
			return err
		}
		if err := errors.Join(o.run(ctx, c.runner), c.end(ctx)); err != nil {
			return err
		}
	}
	if o.after == nil {
		return nil
	}
	return o.after(ctx, c.id)
}
