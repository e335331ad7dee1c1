package options

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/lang"
)

// CacheDir returns the store's directory, shared between projects. cfg is nil without a valid configuration.
func (o *Options) CacheDir(cfg *lang.Config) (string, error) {
	if dir, ok := o.Getenv("FEVALGRAPH_CACHE_DIR"); ok && dir != "" {
		return filepath.Abs(dir)
	}
	if cfg != nil && cfg.Settings.CacheDir != "" {
		return cfg.Settings.CacheDir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", exit.With(exit.Usage, fmt.Errorf("finding the cache directory: %w; set FEVALGRAPH_CACHE_DIR", err))
	}
	return filepath.Join(dir, "fevalgraph"), nil
}

// OwnStoreDir returns the directory for results that a project must not write to the shared store.
func OwnStoreDir(state string) string { return filepath.Join(state, "store") }

// Configured returns the configuration if it loads, for its cache block; calls that need only the store work
// without it.
func (o *Options) Configured() *lang.Config {
	cfg, diags := lang.Load(o.Lang())
	if diags.HasErrors() {
		return nil
	}
	return cfg
}
