package main

import (
	"errors"
	"fmt"

	"github.com/informersim/informersim/fakeapiserver/persistence"
	"github.com/informersim/informersim/fakeapiserver/transport"
)

// data is the file of --data.
type data struct {
	file     *persistence.File
	recorder *persistence.Recorder
	goesOn   bool // a session that was begun before
}

// keepIn takes over what is in a file, and keeps in it whatever is written from now on.
func (w *served) keepIn(path string) error {
	file, state, err := persistence.Open(path)
	if err != nil {
		return err
	}
	w.pump.Do(func() { err = persistence.Load(w.cluster, state) })
	if err != nil {
		w.pump.Stop()
		return errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	w.data = &data{file: file, recorder: persistence.Record(w.cluster, file), goesOn: state.Len() > 0}
	w.api = &persistence.Durable{API: w.rest, Recorder: w.data.recorder}
	return nil
}

// sync saves what is not saved yet. It is called with the world at rest, or inside a step.
func (w *served) sync() error {
	if w.data == nil {
		return nil
	}
	return w.data.recorder.Sync()
}

// close saves what nobody has been told of yet, and lets go of the file.
func (d *data) close(pump *transport.Pump) (err error) {
	pump.Look(func() { err = d.recorder.Sync() })
	return errors.Join(err, d.file.Close())
}
