// Package abreast lets parallel tests run side by side in larger numbers than there
// are processors: those that wait more than they work. It is for TestMain only.
package abreast

import (
	"flag"
	"strconv"
)

// Set lets n parallel tests run at a time, unless -parallel says how many. It comes
// before the tests run.
func Set(n int) {
	if !flag.Parsed() {
		flag.Parse()
	}
	const name = "test.parallel"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		_ = flag.Set(name, strconv.Itoa(n)) // it is a number
	}
}
