//go:build !linux

package main

import "errors"

func mountSmall(string, string) error { return errors.ErrUnsupported }

func mountWith(string, string) error { return errors.ErrUnsupported }

func mountWholeSeconds(string, string) error { return errors.ErrUnsupported }

func mountReadOnly(string) error { return errors.ErrUnsupported }

func mountUnreadable(string) error { return errors.ErrUnsupported }

func unmount(string) error { return errors.ErrUnsupported }
