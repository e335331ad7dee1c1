// Package validate finds what is worth a warning in a configuration that is valid, and
// says whether the references that problems ship reach what the problems expect, and which
// of the expected solutions are there.
package validate
