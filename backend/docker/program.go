package docker

import (
	"archive/tar"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/fevalgraph/fevalgraph/backend"
)

// programPath is the path of the runner in containers.
const programPath = "/fevalgraph/runner"

// machines maps the daemons' names of architectures.
var machines = map[string]elf.Machine{
	"x86_64": elf.EM_X86_64, "amd64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64, "arm64": elf.EM_AARCH64,
	"armv7l": elf.EM_ARM, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "riscv64": elf.EM_RISCV,
}

// checkProgram returns an error unless the runner can run on the daemon's machine. The architecture of an
// image does not matter: the kernel runs the runner.
func (b *Backend) checkProgram(ctx context.Context) error {
	about, err := b.d.info(ctx)
	if err != nil {
		return err
	}
	fail := func(err error, hint string) error {
		return &backend.ToolError{Tool: b.opt.Program, Err: err, Hint: hint}
	}
	if b.opt.Program == "" {
		return errors.New("no program for containers is specified")
	}
	program, err := elf.Open(b.opt.Program)
	if err != nil {
		return fail(err, "containers need fevalgraph-worker, a Linux program next to fevalgraph")
	}
	defer program.Close()
	_, architecture, _ := strings.Cut(about.platform, "/")
	if want, known := machines[architecture]; known && want != program.Machine {
		return fail(fmt.Errorf("it is built for %v, but the daemon's machine is %s", program.Machine, about.platform),
			"put a fevalgraph-worker of this version for that machine next to fevalgraph")
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			return fail(errors.New("it needs shared libraries, which images can lack"), "build fevalgraph with CGO_ENABLED=0, or put fevalgraph-worker next to it, as make build does")
		}
	}
	return nil
}

// programMount returns the mount of the runner's file on this machine.
func (b *Backend) programMount() mount.Mount {
	return mount.Mount{Type: mount.TypeBind, Source: b.opt.Program, Target: programPath, ReadOnly: true}
}

// sendProgram copies the runner into a container that does not run.
func (d *Daemon) sendProgram(ctx context.Context, id, program string) error {
	file, err := os.Open(program)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() {
		archive := tar.NewWriter(w)
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Dir(programPath)[1:] + "/", Mode: 0o755})
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: programPath[1:], Mode: 0o555, Size: info.Size()})
		}
		if err == nil {
			_, err = io.Copy(archive, file)
		}
		w.CloseWithError(errors.Join(err, archive.Close()))
	}()
	defer r.Close()
	if err := d.api.CopyToContainer(ctx, id, "/", r, container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("copying the runner into the container: %w", d.explain(err))
	}
	return context.Cause(ctx)
}
