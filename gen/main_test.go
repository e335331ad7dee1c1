package gen

import (
	"os"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/ramdir"
)

func TestMain(m *testing.M) {
	remove := ramdir.Use()
	code := m.Run()
	remove()
	os.Exit(code)
}
