package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/informersim/informersim/simtest"
	clusterapi "github.com/informersim/informersim/wild/cluster-api"
)

const (
	marked   = "each unhealthy Machine is to be remediated, and no other"
	remedied = "an unhealthy Machine has its request for remediation"
	checked  = 6 // Machines
)

// In the end each Machine that is unhealthy, here because it is annotated so, is marked for its owner to remediate, and no other is; the MachineHealthCheck says how many
// there are (cluster-api.sigs.k8s.io/tasks/automated-machine-management/healthchecking).
func TestMachineHealthCheck(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, func(env *simtest.Env) {
		checkHealth(env, clusterv1.MachineHealthCheckRemediation{})
		for range 10 {
			m := machine(env.Rand().IntN(checked))
			if env.Get(m) == nil {
				annotate(env, m)
			}
			env.Advance(time.Duration(env.Rand().IntN(60)) * time.Second)
			mayRestart(env)
		}
		env.StopFaults()
		env.Eventually(marked, time.Hour, func() error { return areMarked(env) })
	})
}

// A MachineHealthCheck hands what is unhealthy to another controller, by a request for each Machine. When it comes upon a Machine that has its request, it leaves the others for the
// next time, and does not say when that is. There, the order of Machines is another one: it is that of a map.
func TestRemediationHoldsUpOthers(t *testing.T) {
	o := options(t)
	o.Mix, o.Seeds = "none", 20
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Create(infrastructure("GenericRemediationTemplate", "reboot", map[string]any{"template": map[string]any{"spec": map[string]any{}}}))
		p := checkHealth(env, clusterv1.MachineHealthCheckRemediation{TemplateRef: clusterv1.MachineHealthCheckRemediationTemplateReference{
			APIVersion: providers + "/v1", Kind: "GenericRemediationTemplate", Name: "reboot",
		}})
		p.mustStart(env)
		for n := range checked - 1 {
			annotate(env, machine(n))
		}
		env.Advance(30 * time.Minute)
		late := machine(checked - 1)
		annotate(env, late)
		env.Eventually(remedied, 5*time.Minute, func() error { return env.Get(infrastructure("GenericRemediation", late.Name, nil)) })
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != remedied || !strings.Contains(found.Message, "not found") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// checkHealth creates a cluster with Machines that nobody owns, and a MachineHealthCheck of them, and starts the controller.
func checkHealth(env *simtest.Env, how clusterv1.MachineHealthCheckRemediation) *process {
	p := &process{}
	check := &clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "workers", Labels: inCluster}, Spec: clusterv1.MachineHealthCheckSpec{
		ClusterName: "prod", Selector: metav1.LabelSelector{MatchLabels: inCluster}, Remediation: how,
		Checks: clusterv1.MachineHealthCheckChecks{NodeStartupTimeoutSeconds: ptr.To[int32](0)},
	}}
	env.Create(newCluster(), check)
	for n := range checked {
		env.Create(machine(n))
	}
	env.Go("capi", func(ctx context.Context) error {
		return clusterapi.RunHealthChecks(ctx, env.RESTConfig("capi"), func() { p.started = true })
	})
	return p
}

var inCluster = map[string]string{clusterv1.ClusterNameLabel: "prod"}

func machine(n int) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("m-%d", n), Labels: inCluster}, Spec: clusterv1.MachineSpec{
		ClusterName: "prod", Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To("bootstrap")},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: providers, Kind: "GenericMachine", Name: fmt.Sprintf("m-%d", n)},
	}}
}

// annotate says of a Machine that it is unhealthy.
func annotate(env *simtest.Env, m *clusterv1.Machine) {
	env.Mutate(m, func() { m.Annotations = map[string]string{clusterv1.RemediateMachineAnnotation: ""} })
}

func areMarked(env *simtest.Env) error {
	var machines clusterv1.MachineList
	check := &clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "workers"}}
	if err := errors.Join(env.List(&machines, "default"), env.Get(check)); err != nil {
		return err
	}
	for i := range machines.Items {
		m := &machines.Items[i]
		if _, unhealthy := m.Annotations[clusterv1.RemediateMachineAnnotation]; conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition) != unhealthy {
			return fmt.Errorf("%s is unhealthy: %t, and its conditions are %v", m.Name, unhealthy, m.Status.Conditions)
		}
	}
	if n := ptr.Deref(check.Status.ExpectedMachines, -1); n != checked {
		return fmt.Errorf("there are %d Machines, and the MachineHealthCheck says %d", checked, n)
	}
	return nil
}
