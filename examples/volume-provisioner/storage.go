package volume

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// Storage has the volumes behind PersistentVolumes, by their names. Its calls fail now and then. It outlives the controller's processes.
type Storage struct {
	mu      sync.Mutex
	volumes map[string]bool
	calls   map[string]int
}

// NewStorage returns an empty storage.
func NewStorage() *Storage { return &Storage{volumes: map[string]bool{}, calls: map[string]int{}} }

// Volumes returns the names of the volumes, in order.
func (s *Storage) Volumes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.volumes))
}

// set creates or removes a volume.
func (s *Storage) set(name string, exists bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[name]++; s.calls[name]%4 == 0 {
		return errors.New("the storage is not available")
	}
	if exists {
		s.volumes[name] = true
	} else {
		delete(s.volumes, name)
	}
	return nil
}

// provisioner is one process's way to the storage.
type provisioner struct {
	storage *Storage
	process context.Context
}

var _ controller.Provisioner = provisioner{}

// Provision implements controller.Provisioner.
func (p provisioner) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if err := p.set(o.PVName, true); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			Capacity:                      o.PVC.Spec.Resources.Requests,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/volumes/" + o.PVName}},
		},
	}, controller.ProvisioningFinished, nil
}

// Delete implements controller.Provisioner.
func (p provisioner) Delete(_ context.Context, v *corev1.PersistentVolume) error {
	return p.set(v.Name, false)
}

// set fails when the process has crashed: what the controller does with a context of its own may still be running, and its calls
// must not arrive. simtest does the same with requests to the server.
func (p provisioner) set(name string, exists bool) error {
	if err := p.process.Err(); err != nil {
		return err
	}
	return p.storage.set(name, exists)
}
