package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/informersim/informersim/internal/probe/resources"
)

// cleanRounds is the number of attempts to empty a resource: a deletion may leave objects with finalizers behind.
const cleanRounds = 5

// objectList contains the fields needed from a list.
type objectList struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []struct {
		Metadata struct {
			Name       string   `json:"name"`
			Namespace  string   `json:"namespace"`
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	} `json:"items"`
}

// listAll returns a consistent list.
func listAll(ctx context.Context, client *http.Client, root, path string) (objectList, error) {
	var list objectList
	data, err := exchange(ctx, client, http.MethodGet, root+path, "", "")
	if err != nil {
		return list, err
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return list, fmt.Errorf("list %s: %w in %.200s", path, err, data)
	}
	return list, nil
}

// exchange sends a request and returns an error unless it succeeds.
func exchange(ctx context.Context, client *http.Client, method, url, contentType, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, url, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, url, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s %.300s", method, url, resp.Status, data)
	}
	return data, nil
}

// Clean deletes every object of the conformance resources.
func Clean(ctx context.Context, target Target) error {
	return clean(ctx, http.DefaultClient, target.Root())
}

func clean(ctx context.Context, client *http.Client, root string) error {
	for _, resource := range []string{"gizmos", "sprockets"} {
		if err := empty(ctx, client, root, resource); err != nil {
			return fmt.Errorf("clean up %s: %w", resource, err)
		}
	}
	return nil
}

func empty(ctx context.Context, client *http.Client, root, resource string) error {
	for range cleanRounds {
		list, err := listAll(ctx, client, root, resources.GroupVersionPath+"/"+resource)
		if err != nil || len(list.Items) == 0 {
			return err
		}
		deleted := map[string]bool{}
		for _, item := range list.Items {
			l := location{resource: resource, namespace: item.Metadata.Namespace, name: item.Metadata.Name}
			if len(item.Metadata.Finalizers) > 0 {
				if _, err := exchange(ctx, client, http.MethodPatch, root+l.path(), patchTypes["merge"],
					`{"metadata":{"finalizers":null}}`); err != nil && !strings.Contains(err.Error(), "404") {
					return err
				}
			}
			if deleted[item.Metadata.Namespace] {
				continue
			}
			deleted[item.Metadata.Namespace] = true
			if _, err := exchange(ctx, client, http.MethodDelete, root+l.collection(), "", ""); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("objects remain after %d rounds", cleanRounds)
}
