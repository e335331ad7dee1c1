package plan

import (
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/lang"
)

// wish is what a command problem wants otherwise than its docker backend is.
type wish struct {
	on        *lang.Backend
	image     string
	gpu, dind bool
}

// dockerSocket is where daemons and their clients meet by default.
const dockerSocket = "/var/run/docker.sock"

// commandDriver is the driver for a command problem: that of its backend or, for
// a problem with wishes, one like it. What has the same wishes shares one.
func (c *compiler) commandDriver(p *lang.Problem, b *lang.Backend) (*driver, error) {
	base, err := c.driver(b)
	if err != nil || b.Docker == nil {
		return base, err
	}
	w := wish{on: b, image: p.Command.Image, dind: p.Command.Dind, gpu: p.Command.GPU && b.Docker.GPUs == ""}
	if w.image == b.Docker.Image {
		w.image = ""
	}
	if w == (wish{on: b}) {
		return base, nil
	}
	if d, ok := c.wishes[w]; ok {
		return d, nil
	}
	d, err := c.grant(w, base)
	if err != nil {
		return nil, fmt.Errorf("%s on backend %s: %w", p.Ref, b.Addr(), err)
	}
	c.wishes[w] = d
	return d, nil
}

func (c *compiler) grant(w wish, base *driver) (*driver, error) {
	options, like := *w.on.Docker, *w.on
	like.Docker = &options
	d := &driver{addr: base.addr, base: base.base, mounts: base.mounts, mounted: base.mounted}
	switch {
	case w.image != "":
		options.Image, options.Build = w.image, nil
		d.addr += " " + w.image
	case options.Build != nil:
		return nil, errors.New("gpu and dind cannot be had with an image that is built; give the backend gpus and mounts, or the problem an image")
	}
	if w.gpu {
		options.GPUs = "all"
		d.addr += " gpu"
	}
	if w.dind {
		options.Mounts = append(append([]lang.Mount{}, options.Mounts...), lang.Mount{Source: dockerSocket, Target: dockerSocket, Unhashed: true})
		d.addr += " dind"
	}
	if err := c.start(d, &like); err != nil {
		return nil, err
	}
	return d, nil
}
