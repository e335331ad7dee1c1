// Firstaction waits until an engine runs actions on each of some platforms: its address and its capabilities
// are available before its workers. Scripts that start an engine call it with the endpoint and the platforms,
// as comma-separated NAME=VALUE.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/reapi"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := reapi.Open(reapi.Options{Address: os.Args[1]})
	for _, platform := range os.Args[2:] {
		for err = run(ctx, c, platform); err != nil && ctx.Err() == nil; err = run(ctx, c, platform) {
			time.Sleep(50 * time.Millisecond)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "firstaction:", err)
		os.Exit(1)
	}
}

// run executes an action that is in no cache.
func run(ctx context.Context, c *reapi.Client, platform string) error {
	properties := new(execution.Platform)
	for pair := range strings.SplitSeq(platform, ",") {
		name, value, _ := strings.Cut(pair, "=")
		properties.Properties = append(properties.Properties, &execution.Platform_Property{Name: name, Value: value})
	}
	blobs := reapi.Messages{}
	command, err := blobs.Add(&execution.Command{Arguments: []string{"/bin/true"}})
	if err != nil {
		return err
	}
	root, _ := blobs.Add(new(execution.Directory))
	action, err := blobs.Add(&execution.Action{CommandDigest: reapi.Digest(command), InputRootDigest: reapi.Digest(root), Platform: properties, DoNotCache: true})
	if err != nil {
		return err
	}
	refused, err := c.Put(ctx, []cache.Digest{command, action}, blobs)
	for _, why := range refused {
		err = errors.Join(err, why)
	}
	if err != nil {
		return err
	}
	x, err := c.Execute(ctx, action, reapi.Execution{Platform: platform, SkipCache: true})
	if err == nil && x.Result.GetExitCode() != 0 {
		err = fmt.Errorf("it ended with %d", x.Result.ExitCode)
	}
	return err
}
