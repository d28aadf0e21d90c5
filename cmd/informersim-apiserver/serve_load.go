package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

// maxManifests limits a file of --crd or --load, in bytes. A device has no end, and a document is read as a whole.
const maxManifests = 256 << 20

// limited reads a file up to that limit; beyond it, reading fails.
func limited(file io.Reader) io.Reader {
	return io.MultiReader(io.LimitReader(file, maxManifests), tooMuch{file})
}

// tooMuch is what follows the limit: the end, or an error.
type tooMuch struct{ file io.Reader }

func (t tooMuch) Read(p []byte) (int, error) {
	n, err := t.file.Read(p)
	if n > 0 {
		return 0, fmt.Errorf("the file has more than %d MiB: split it", maxManifests>>20)
	}
	return 0, err
}

// define installs the CustomResourceDefinitions of a file. It replaces those that --data has already.
func (w *served) define(ctx context.Context, path string) error {
	file, err := cli.Open(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	definitions, err := crd.LoadManifests(limited(file))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(definitions) == 0 {
		return fmt.Errorf("%s: it contains no CustomResourceDefinition", path)
	}
	for _, d := range definitions {
		w.pump.Do(func() { err = w.definitions.Install(d) })
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// load creates the objects of a file through the API, under the usual rules. Objects that --data has already are left
// alone, so that the command that began a session also continues it.
func (w *served) load(ctx context.Context, path string, out io.Writer) error {
	file, err := cli.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	defer file.Close()
	d := yaml.NewYAMLOrJSONDecoder(limited(file), 4096)
	there := 0
	create := func(o runtime.Object) error {
		created, err := w.createLoaded(o.(*unstructured.Unstructured))
		if !created {
			there++
		}
		return err
	}
	for n := 1; ; n++ {
		u := &unstructured.Unstructured{}
		if err := d.Decode(u); errors.Is(err, io.EOF) {
			if there > 0 {
				fmt.Fprintf(out, "--load %s: %d objects already exist and were left alone\n", path, there)
			}
			return nil
		} else if err != nil {
			return fmt.Errorf("--load %s: document %d: %w", path, n, err)
		}
		if len(u.Object) == 0 {
			continue
		}
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

// createLoaded creates an object. created is false for one that already exists in the file of --data.
func (w *served) createLoaded(u *unstructured.Unstructured) (created bool, err error) {
	if w.data != nil && w.data.resumed && u.GetName() == "" {
		return false, nil // it got a generated name when the session began
	}
	p, err := w.rest.PathFor(u.GroupVersionKind(), u.GetNamespace())
	if err != nil {
		return false, err
	}
	u.SetResourceVersion("")
	body, err := u.MarshalJSON()
	if err != nil {
		return false, err
	}
	req := &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: "load", Path: p}, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body))}
	resp, err := (&transport.RoundTripper{Driver: w.pump, API: w.api, Client: "load"}).RoundTrip(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusCreated:
		return true, nil
	case resp.StatusCode == http.StatusConflict && w.data != nil:
		return false, nil
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return false, err
	}
	var status metav1.Status
	if err := json.Unmarshal(answer, &status); err != nil || status.Message == "" {
		status.Message = strings.TrimSpace(string(answer))
	}
	return false, fmt.Errorf("%s %s: the server answers %d: %s", u.GetKind(), displayName(u), resp.StatusCode, status.Message)
}

func displayName(u *unstructured.Unstructured) string {
	name := u.GetName()
	if name == "" {
		name = u.GetGenerateName()
	}
	if ns := u.GetNamespace(); ns != "" {
		return ns + "/" + name
	}
	return name
}
