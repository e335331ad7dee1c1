// Package buildfiles reads what a build of an image takes and what it leaves:
// the images that a Dockerfile builds on, the context as an archive, and the
// layers of an image that was saved. It knows no daemon.
package buildfiles
