package simtest

import (
	"errors"

	"github.com/informersim/informersim/simtest/internal/wire"
)

var (
	// errCrashed is the error of requests made after their process has crashed.
	errCrashed = wire.Crashed
	// errOver is the error of requests made after the run.
	errOver = errors.New("simtest: this env's run is over; its clients end with it")
	// errInCheck is the error of requests made by a function passed to env.Always or env.Sometimes.
	errInCheck = errors.New("simtest: a function passed to env.Always or env.Sometimes made a request; those run between two steps and may only read: " +
		"use env.Get and env.List there, or env.Eventually")
)
