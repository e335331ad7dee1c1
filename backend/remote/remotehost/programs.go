package remotehost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
)

// programs runs programs in a sandbox. Their outputs are part of the result, or files.
func (h *host) programs(ctx context.Context, result *wire.Result) error {
	sandbox := h.sandbox()
	if sandbox == nil {
		return errors.New("the action has no go-judge")
	}
	for d := range wire.FilesOf(h.task.Programs) {
		if _, err := h.store.file(wire.FilesDir+"/"+d.Hex(), d); err != nil {
			return err
		}
	}
	endings, err := sandbox.Run(ctx, h.task.Programs...)
	if err != nil {
		return err
	}
	result.Endings = endings
	room := wire.Inline
	for i, d := range wire.LeftBy(endings) {
		blob, err := cache.ReadBlob(ctx, h.store, d, -1)
		if err != nil {
			return err
		}
		if len(blob) <= room {
			room -= len(blob)
			result.Blobs = append(result.Blobs, blob)
			continue
		}
		if err := h.saveFile(strconv.Itoa(i), blob); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) saveFile(name string, blob []byte) error {
	dir := filepath.Join(h.dir, wire.LeftDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), blob, 0o644)
}
