package fakeapiserver

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A server without streaming lists refuses what asks for one, in the words of the real server's validation; a watch from "any"
// revision still begins with the state.
func TestNoWatchList(t *testing.T) {
	w := newWorld(t, ClusterOptions{NoWatchList: true})
	w.create("default/a")
	w.settle()
	for _, send := range []bool{true, false} {
		r := w.watch(metav1.ListOptions{SendInitialEvents: &send, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
		if !apierrors.IsInvalid(r.openErr) || !strings.Contains(r.openErr.Error(), "unless the WatchList feature gate is enabled") {
			t.Errorf("sendInitialEvents=%v: %v", send, r.openErr)
		}
	}
	wantEvents(t, w.watch(metav1.ListOptions{ResourceVersion: "0"}), "ADDED default/a@1001")
	wantEvents(t, w.watch(metav1.ListOptions{ResourceVersion: "1000"}), "ADDED default/a@1001")
}
