package lightcp_test

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/fakejudge"
)

func newServer(t *testing.T, problems ...string) *fakejudge.Server {
	s := fakejudge.New(problems...)
	s.Judge = func(string, string, string) string {
		return `{"status":"done","passed":true,"score":100,"scoreUnbounded":100,"cases":[]}`
	}
	t.Cleanup(s.Close)
	return s
}
