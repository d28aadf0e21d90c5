package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/bootstrap"
	"github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/transport"
)

// bootstrap creates what a fresh cluster has and this one lacks.
func (w *served) bootstrap(addr net.Addr, out io.Writer) error {
	address, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("the name of this machine, which the Lease of the apiserver says: %w", err)
	}
	for _, o := range bootstrap.Objects(bootstrap.Options{Now: time.Now(), Address: address, Host: host, Policy: builtin.Policy()}) {
		if err := w.bootstrapOne(o); err != nil {
			return fmt.Errorf("the objects of a fresh cluster: %w", err)
		}
	}
	w.pump.Do(func() { err = w.aggregation.Begin() })
	if err != nil {
		return fmt.Errorf("the APIServices of a fresh cluster: %w", err)
	}
	if homeless := w.homeless(); len(homeless) > 0 {
		fmt.Fprintf(out, "--data has objects in namespaces that do not exist: %s. Create them before you create more there, or serve --bare\n", strings.Join(homeless, ", "))
	}
	return nil
}

// bootstrapOne creates an object, and applies its status if it is new.
func (w *served) bootstrapOne(o bootstrap.Object) error {
	gvk := o.Object.GetObjectKind().GroupVersionKind()
	m, err := meta.Accessor(o.Object)
	if err != nil {
		return err
	}
	path, err := w.rest.PathFor(gvk, m.GetNamespace())
	if err != nil {
		return err
	}
	if w.data != nil && w.data.resumed && w.has(path+"/"+m.GetName()) {
		return nil
	}
	if err := w.send(http.MethodPost, path+"?fieldManager="+o.Owner, "application/json", o.Object); err != nil {
		return fmt.Errorf("%s %s: %w", gvk.Kind, m.GetName(), err)
	}
	if o.Status == nil {
		return nil
	}
	err = w.send(http.MethodPatch, path+"/"+m.GetName()+"/status?force=true&fieldManager="+o.Manager, "application/apply-patch+yaml", o.Status)
	if err != nil {
		return fmt.Errorf("the status of %s %s: %w", gvk.Kind, m.GetName(), err)
	}
	return nil
}

// has reports whether there is an object at a path.
func (w *served) has(path string) bool {
	resp, err := w.ask(http.MethodGet, path, "", nil)
	if err != nil {
		return false // the create says why
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// send makes a write as the apiserver itself. It fails if the answer is an error.
func (w *served) send(method, path, contentType string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	resp, err := w.ask(method, path, contentType, data)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < http.StatusMultipleChoices {
		return nil
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return fmt.Errorf("the server answers %d: %s", resp.StatusCode, strings.TrimSpace(string(answer)))
}

func (w *served) ask(method, path, contentType string, body []byte) (*http.Response, error) {
	target, err := url.Parse("http://bootstrap" + path)
	if err != nil {
		return nil, err
	}
	req := &http.Request{
		Method: method, URL: target, Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{"Content-Type": {contentType}, "User-Agent": {bootstrap.Client}},
	}
	return (&transport.RoundTripper{Driver: w.pump, API: w.api, Client: bootstrap.Client}).RoundTrip(req)
}

// homeless returns the namespaces that objects are in and that do not exist: a session that began with --bare has them.
func (w *served) homeless() (names []string) {
	if w.data == nil || !w.data.resumed {
		return nil
	}
	w.pump.Look(func() {
		s := w.cluster.Store()
		known, ok := w.cluster.FindResource(schema.GroupResource{Resource: "namespaces"})
		for id := store.ResourceID(0); ok && s.Resource(id) != nil; id++ {
			if !s.Resource(id).Namespaced {
				continue
			}
			s.Newest(id, "", func(key string, _ runtime.Object) bool {
				namespace, _, _ := strings.Cut(key, "/")
				if obj, _ := s.Get(known, "", namespace); obj == nil && !slices.Contains(names, namespace) {
					names = append(names, namespace)
				}
				return true
			})
		}
	})
	slices.Sort(names)
	return names
}
