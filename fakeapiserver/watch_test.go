package fakeapiserver

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestListThenWatch(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.create("default/b")
	page, err := w.list("", metav1.ListOptions{ResourceVersion: ""})
	if err != nil || len(page.Items) != 2 || page.ResourceVersion != "1002" {
		t.Fatalf("list: %+v, %v", page, err)
	}
	r := w.watch(metav1.ListOptions{ResourceVersion: page.ResourceVersion})
	w.update("default/a")
	w.delete("default/b")
	w.settle()
	wantEvents(t, r, "MODIFIED default/a@1003", "DELETED default/b@1004")
}
