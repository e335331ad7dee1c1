package eval_test

import (
	"os"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/abreast"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

func TestMain(m *testing.M) {
	abreast.Set(10) // most of them wait until states of files differ
	os.Exit(ramdir.Run(m))
}
