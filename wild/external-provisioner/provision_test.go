package provisioner_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	provisioner "github.com/informersim/informersim/wild/external-provisioner"
)

const (
	driverName = "example.com"
	hasVolume  = "a claim that is bound has its volume, and a clone what its source had"
	cloneOf    = "example.com/clone-of"
	asWanted   = "each claim has a PersistentVolume and a volume of its own, and there are no others"
)

// driver is a storage system that clones volumes. It outlives the processes that call it.
type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer
	reliable bool          // each call is answered
	takes    time.Duration // to create a volume

	mu      sync.Mutex        // workers call it
	volumes map[string]string // the volume of which it is a clone
	calls   int
}

func (*driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

func (*driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driverName}, nil
}

func (*driver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{Type: &csi.PluginCapability_Service_{
		Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE},
	}}}}, nil
}

func (*driver) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	r := &csi.ControllerGetCapabilitiesResponse{}
	for _, c := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME, csi.ControllerServiceCapability_RPC_CLONE_VOLUME, csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME,
	} {
		r.Capabilities = append(r.Capabilities, &csi.ControllerServiceCapability{Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: c}}})
	}
	return r, nil
}

// CreateVolume goes on with its work when nobody waits for the answer any more. The volume is called as the claim's PersistentVolume will be.
func (d *driver) CreateVolume(ctx context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	d.mu.Lock()
	d.calls++
	call := d.calls
	_, there := d.volumes[r.Name]
	full := !d.reliable && !there && call%6 == 0
	if !full && !there {
		d.volumes[r.Name] = r.VolumeContentSource.GetVolume().GetVolumeId()
	}
	d.mu.Unlock()
	if full {
		return nil, status.Error(codes.ResourceExhausted, "full")
	}
	takes := d.takes
	if there {
		takes = time.Second
	}
	if err := d.answer(ctx, call, takes); err != nil {
		return nil, err
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: r.Name, CapacityBytes: r.CapacityRange.RequiredBytes, ContentSource: r.VolumeContentSource}}, nil
}

func (d *driver) DeleteVolume(ctx context.Context, r *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	d.mu.Lock()
	d.calls++
	call := d.calls
	delete(d.volumes, r.VolumeId)
	d.mu.Unlock()
	return &csi.DeleteVolumeResponse{}, d.answer(ctx, call, time.Second)
}

// answer fails if the caller does not wait for so long or has crashed. Every fifth answer is lost, and every seventh is not sent before the caller gives up.
func (d *driver) answer(ctx context.Context, call int, takes time.Duration) error {
	if !d.reliable && call%7 == 0 {
		takes = time.Hour
	}
	select {
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	case <-time.After(takes):
	}
	if !d.reliable && call%5 == 0 {
		return status.Error(codes.Unavailable, "the connection is lost")
	}
	return nil
}

func (d *driver) has() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.volumes)
}

// In the end each claim has a PersistentVolume and a volume of its own, and nothing is left of those that are deleted, whatever comes and goes meanwhile. A claim is deleted once it is
// bound: what is created for one that goes before is left if the controller crashes, by design (kubernetes-csi/external-provisioner#486).
func TestProvision(t *testing.T) {
	simtest.Run(t, options(), func(env *simtest.Env) { comeAndGo(env, false) })
}

// So it is with claims that are clones of others. A claim is not deleted while another is to be its clone, since both would wait for ever, which is a finding of its own.
func TestClones(t *testing.T) {
	simtest.Run(t, options(), func(env *simtest.Env) { comeAndGo(env, true) })
}

// The driver takes longer to clone a volume than the controller waits, and goes on with it. Meanwhile the claim that is cloned is deleted. Now the controller refuses it as a source
// and never calls the driver again, while that claim is kept until its clone is bound. Once somebody deletes the clone, nothing is left that knows of its volume.
func TestCloneOfDeletedClaimLeavesVolume(t *testing.T) {
	o := options()
	o.Mix = "none"
	o.Properties = nil
	found := simtest.Find(t, o, func(env *simtest.Env) {
		d := setUp(env)
		d.reliable = true
		source, clone := newClaim("source"), newClaim("clone")
		env.Create(source)
		env.Eventually(asWanted, time.Minute, func() error { return errors.Join(agree(env, d), env.Get(source)) })
		makeClone(clone, source)
		d.takes = 15 * time.Second
		env.Create(clone)
		env.Advance(5 * time.Second)
		env.Delete(source)
		env.Advance(10 * time.Minute)
		bind(env)
		waits := env.Get(source) == nil && env.Get(clone) == nil && clone.Spec.VolumeName == ""
		env.Delete(clone)
		env.Eventually(asWanted, 20*time.Minute, func() error {
			if err := agree(env, d); err != nil {
				return fmt.Errorf("both claims have waited for each other: %t; %w", waits, err)
			}
			return nil
		})
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != asWanted || !strings.Contains(found.Message, "waited for each other: true; there are 1 volumes, and 0 PersistentVolumes") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// options allow for broadcasters of events, which NewCSIProvisioner leaves to the end of the process.
func options() simtest.Options {
	return simtest.Options{AllowLeaks: true, Properties: simtest.WellBehaved()}
}

// setUp creates a StorageClass, and starts the controller.
func setUp(env *simtest.Env) *driver {
	d := &driver{volumes: map[string]string{}, takes: time.Second}
	env.Create(&storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: driverName,
		ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: ptr.To(storagev1.VolumeBindingImmediate),
	})
	env.Go("provisioner", func(ctx context.Context) error {
		conn, err := provisioner.Connect(func(r grpc.ServiceRegistrar) {
			csi.RegisterIdentityServer(r, d)
			csi.RegisterControllerServer(r, d)
		})
		if err != nil {
			return err
		}
		defer conn.Close()
		return provisioner.Run(ctx, env.RESTConfig("provisioner"), conn)
	})
	return d
}

func comeAndGo(env *simtest.Env, clones bool) {
	d := setUp(env)
	env.Always(hasVolume, func() error { return kept(env, d) })
	for range 15 {
		change(env, clones)
		for range 3 {
			env.Advance(time.Duration(env.Rand().IntN(8)) * time.Second)
			bind(env)
		}
	}
	env.StopFaults()
	env.Eventually(asWanted, time.Hour, func() error { return agree(env, d) })
}

// change creates a claim, or deletes one.
func change(env *simtest.Env, clones bool) {
	name, other := fmt.Sprintf("c-%d", env.Rand().IntN(4)), fmt.Sprintf("c-%d", env.Rand().IntN(4))
	claims, _, err := list(env)
	if err != nil {
		return
	}
	cloned := false
	var live, source *corev1.PersistentVolumeClaim
	for _, c := range claims {
		switch {
		case c.Name == name:
			live = c
		case c.Name == other && c.Status.Phase == corev1.ClaimBound && c.DeletionTimestamp == nil:
			source = c
		}
		cloned = cloned || c.Spec.DataSource != nil && c.Spec.DataSource.Name == name && c.Status.Phase == corev1.ClaimPending
	}
	switch {
	case live == nil:
		c := newClaim(name)
		if clones && source != nil && env.Rand().IntN(2) == 0 {
			makeClone(c, source)
		}
		env.Create(c)
	case live.Status.Phase == corev1.ClaimBound && live.DeletionTimestamp == nil && !cloned:
		env.Delete(live)
	}
}

// newClaim is a claim as Kubernetes hands it to a driver.
func newClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"volume.kubernetes.io/storage-provisioner": driverName}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("fast"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
}

// makeClone has a claim that is yet to be created be a clone of another, and notes of which volume.
func makeClone(c, source *corev1.PersistentVolumeClaim) {
	c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: source.Name}
	c.Annotations[cloneOf] = source.Spec.VolumeName
}

// bind does what Kubernetes does with volumes: it binds claims to theirs, and releases those whose claim is gone.
func bind(env *simtest.Env) {
	claims, volumes, err := list(env)
	if err != nil {
		return
	}
	for i := range volumes {
		v := &volumes[i]
		switch c := claims[v.Spec.ClaimRef.UID]; {
		case c == nil && v.Status.Phase != corev1.VolumeReleased:
			v.Status.Phase, v.ResourceVersion = corev1.VolumeReleased, ""
			env.UpdateStatus(v)
		case c != nil && c.Status.Phase != corev1.ClaimBound:
			v.Status.Phase, v.ResourceVersion = corev1.VolumeBound, ""
			env.UpdateStatus(v)
			env.Mutate(c, func() { c.Spec.VolumeName = v.Name })
			c.Status.Phase, c.Status.Capacity, c.Status.AccessModes, c.ResourceVersion = corev1.ClaimBound, v.Spec.Capacity, v.Spec.AccessModes, ""
			env.UpdateStatus(c)
		}
	}
}

// list returns the claims, by uid, and the PersistentVolumes.
func list(env *simtest.Env) (map[types.UID]*corev1.PersistentVolumeClaim, []corev1.PersistentVolume, error) {
	var claims corev1.PersistentVolumeClaimList
	var volumes corev1.PersistentVolumeList
	if err := errors.Join(env.List(&claims, ""), env.List(&volumes, "")); err != nil {
		return nil, nil, err
	}
	byUID := map[types.UID]*corev1.PersistentVolumeClaim{}
	for i := range claims.Items {
		byUID[claims.Items[i].UID] = &claims.Items[i]
	}
	return byUID, volumes.Items, nil
}

func kept(env *simtest.Env, d *driver) error {
	claims, volumes, err := list(env)
	if err != nil {
		return err
	}
	there := d.has()
	for _, v := range volumes {
		c := claims[v.Spec.ClaimRef.UID]
		if c == nil || c.Spec.VolumeName != v.Name {
			continue
		}
		of, ok := there[v.Spec.CSI.VolumeHandle]
		if want := c.Annotations[cloneOf]; !ok || of != want {
			return fmt.Errorf("the claim %s is bound to %s, which is there: %t, and a clone of %q in place of %q", c.Name, v.Name, ok, of, want)
		}
	}
	return nil
}

func agree(env *simtest.Env, d *driver) error {
	bind(env)
	claims, volumes, err := list(env)
	if err != nil {
		return err
	}
	var names []string
	for _, v := range volumes {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	if there := slices.Sorted(maps.Keys(d.has())); !slices.Equal(there, names) {
		return fmt.Errorf("there are %d volumes, and %d PersistentVolumes: %v and %v", len(there), len(names), there, names)
	}
	for _, v := range volumes {
		if c := claims[v.Spec.ClaimRef.UID]; c == nil || c.Spec.VolumeName != v.Name {
			return fmt.Errorf("the PersistentVolume %s is left, whose claim %s is not there or has another", v.Name, v.Spec.ClaimRef.Name)
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(claims)) {
		c := claims[uid]
		if c.DeletionTimestamp != nil || c.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("the claim %s is %s, is being deleted since %v, and has the finalizers %v", c.Name, c.Status.Phase, c.DeletionTimestamp, c.Finalizers)
		}
	}
	return nil
}
