package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/informersim/informersim/fakeapiserver/persistence"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

// data is the file of --data.
type data struct {
	file     *persistence.File
	recorder *persistence.Recorder
	resumed  bool // the file has an earlier session's state
}

// lockTimeout is how long to wait for a file that another process has open; a stopping process releases it.
const lockTimeout = 2 * time.Second

// persist restores the state in a file, and records all later writes there.
func (w *served) persist(path string) error {
	file, state, err := persistence.Open(path)
	for waited := time.Duration(0); errors.Is(err, persistence.ErrInUse) && waited < lockTimeout; waited += lockTimeout / 40 {
		time.Sleep(lockTimeout / 40)
		file, state, err = persistence.Open(path)
	}
	if err != nil {
		return err
	}
	w.data = &data{file: file, resumed: state.Len() > 0}
	w.pump.Do(func() {
		if err = w.restore(state); err == nil {
			w.data.recorder = persistence.Record(w.cluster, file) // before the restored state causes writes
		}
	})
	if err != nil {
		w.pump.Stop()
		return errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	w.api = &persistence.Durable{API: w.rest, Recorder: w.data.recorder}
	return nil
}

// restore loads the state of a file. Definitions come first: without them the resources of the other objects are unknown.
func (w *served) restore(state *persistence.State) error {
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, data := range state.Objects(crd.DefinitionResource.GroupResource()) {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := json.Unmarshal(data, d); err != nil {
			return fmt.Errorf("cannot read a CustomResourceDefinition: %w", err)
		}
		definitions = append(definitions, d)
	}
	if err := w.definitions.Restore(definitions, state.Revision()); err != nil {
		return err
	}
	return persistence.Load(w.cluster, state)
}

// sync saves pending writes. It must be called while the world is quiescent, or inside a step.
func (w *served) sync() error {
	if w.data == nil {
		return nil
	}
	return w.data.recorder.Sync()
}

// writable returns why writes are refused, nil if they are not.
func (w *served) writable() error {
	if w.data == nil || w.data.recorder == nil {
		return nil
	}
	return w.data.recorder.Check()
}

// close saves pending writes, which have not been acknowledged, and closes the file.
func (d *data) close(pump *transport.Pump) (err error) {
	pump.Look(func() { err = d.recorder.Sync() })
	return errors.Join(err, d.file.Close())
}
