package eval_test

import (
	"os"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

func TestMain(m *testing.M) {
	os.Exit(ramdir.Run(m))
}
