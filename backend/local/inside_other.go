//go:build !linux

package local

import (
	"context"
	"errors"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// inside is unused: this system has no containers.
type inside struct{}

func (b *Backend) openInside(context.Context, backend.Spec) (backend.Session, error) {
	return nil, errors.ErrUnsupported
}

func (*inside) userLimits() error { return nil }

// NewInside returns an error: only Linux has containers.
func NewInside(cache.Store, backend.Container) (*Backend, error) { return nil, errors.ErrUnsupported }
