package local

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTools(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, nil},
		{map[string]string{"PATH": "/usr/bin"}, []string{"PATH=/usr/bin"}},
		{map[string]string{"HOME": "/home/me"}, []string{
			"UV_CACHE_DIR=/home/me/.cache/uv", "UV_PYTHON_INSTALL_DIR=/home/me/.local/share/uv/python", "RUSTUP_HOME=/home/me/.rustup"}},
		{map[string]string{"HOME": "/home/me", "XDG_CACHE_HOME": "/big", "XDG_DATA_HOME": "relative", "RUSTUP_HOME": "/rust"}, []string{
			"UV_CACHE_DIR=/big/uv", "UV_PYTHON_INSTALL_DIR=/home/me/.local/share/uv/python", "RUSTUP_HOME=/rust"}},
	} {
		got := Tools(func(name string) (string, bool) { value, ok := test.env[name]; return value, ok })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: %s", test.env, diff)
		}
	}
}
