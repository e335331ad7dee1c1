package plan

import (
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/lang"
)

// override contains a problem's settings for its backend's container that differ from the block.
type override struct {
	on        *lang.Backend
	image     string
	gpu, dind bool
	// For problems with a verifier.
	verified            bool
	dockerfile, context string
	as                  lang.ContainerAs
}

// dockerSocket is the default socket of docker daemons.
const dockerSocket = "/var/run/docker.sock"

// commandDriver returns the driver of a command problem: that of its backend or, for a problem with
// overrides, a variant. Equal overrides share one.
func (c *compiler) commandDriver(p *lang.Problem, b *lang.Backend) (*driver, error) {
	base, err := c.driver(b)
	if err != nil || b.Container == nil {
		return base, err
	}
	o := override{on: b, image: p.Command.Image, dind: p.Command.Dind, gpu: p.Command.GPU && b.Container.GPUs == ""}
	if o.image == b.Container.Image {
		o.image = ""
	}
	if o == (override{on: b}) {
		return base, nil
	}
	if d, ok := c.overrides[o]; ok {
		return d, nil
	}
	d, err := c.overrideDriver(o, base)
	if err != nil {
		return nil, fmt.Errorf("%s on backend %s: %w", p.Ref, b.Addr(), err)
	}
	c.overrides[o] = d
	return d, nil
}

// overrideDriver creates the driver for an override.
func (c *compiler) overrideDriver(o override, base *driver) (*driver, error) {
	options, like := *o.on.Container, *o.on
	like.Container = &options
	d := &driver{addr: base.addr, base: base.base, mounts: base.mounts, mounted: base.mounted}
	switch {
	case o.image != "":
		options.Image, options.Build = o.image, nil
		d.addr += " " + o.image
	case options.Build != nil:
		return nil, errors.New("gpu and dind do not work with an image that is built; set gpus and mounts of the backend, or the problem's image")
	}
	if o.gpu {
		options.GPUs = "all"
		d.addr += " gpu"
	}
	if o.dind {
		options.Mounts = append(append([]lang.Mount{}, options.Mounts...), lang.Mount{Source: dockerSocket, Target: dockerSocket, Unhashed: true})
		d.addr += " dind"
	}
	if err := c.start(d, &like); err != nil {
		return nil, err
	}
	return d, nil
}
