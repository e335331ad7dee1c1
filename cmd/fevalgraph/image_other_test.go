//go:build !linux

package main

import (
	"errors"
	"testing"
)

func twoImages(t *testing.T, dir string) []string { return []string{""} }

func freeLoop() (string, error) { return "", errors.ErrUnsupported }

func mountImage(image, loop, dir string) error { return errors.ErrUnsupported }

func unmountImage(dir string) error { return errors.ErrUnsupported }
