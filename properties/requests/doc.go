// Package requests asks a fake apiserver over its REST API to create, update, patch, apply and delete custom resources, with and without
// subresources, and holds its answers, what it stores, what it lists and what its watches bring against a model: generations, conflicts, finalizers,
// preconditions, dry runs, defaults, what a subresource changes, who owns a field.
//
// It owns the model. It links what serves requests, which only the program of [github.com/informersim/informersim/internal/mutation] and tests do,
// not what explores informers. What may not be done here: look into the server to find out what it should have said.
package requests
