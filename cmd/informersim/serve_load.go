package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/informersim/informersim/fakeapiserver/transport"
)

// load creates the objects of a file through the API, so that they meet the same rules as any others.
func (w *served) load(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	defer file.Close()
	d := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for n := 1; ; n++ {
		u := &unstructured.Unstructured{}
		if err := d.Decode(u); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("--load %s: document %d: %w", path, n, err)
		}
		if len(u.Object) == 0 {
			continue
		}
		create := func(o runtime.Object) error { return w.createLoaded(o.(*unstructured.Unstructured)) }
		if u.IsList() {
			err = u.EachListItem(create)
		} else {
			err = create(u)
		}
		if err != nil {
			return fmt.Errorf("--load %s: document %d: %w", path, n, err)
		}
	}
}

func (w *served) createLoaded(u *unstructured.Unstructured) error {
	p, err := w.api.PathFor(u.GroupVersionKind(), u.GetNamespace())
	if err != nil {
		return err
	}
	u.SetResourceVersion("")
	body, err := u.MarshalJSON()
	if err != nil {
		return err
	}
	req := &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: "load", Path: p}, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body))}
	resp, err := (&transport.RoundTripper{Driver: w.pump, API: w.api, Client: "load"}).RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusCreated {
		return nil
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s %s/%s: %d %s", u.GetKind(), u.GetNamespace(), u.GetName(), resp.StatusCode, answer)
}
