// Package abreast runs more parallel tests at a time than there are processors, for tests that mostly wait. It
// is for TestMain only.
package abreast

import (
	"flag"
	"strconv"
)

// Set runs n parallel tests at a time, unless -parallel is given. Call it before the tests run.
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
