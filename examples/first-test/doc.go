// Package copies is the controller of docs/first-test.md, on client-go v0.34: each ConfigMap has a Secret of its name with its binary data.
package copies
