// Package agentsandbox runs the controllers of the released sigs.k8s.io/agent-sandbox, unmodified, under faults with simtest.
package agentsandbox
