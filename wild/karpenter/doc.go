// Package karpenter runs the controllers of NodeClaims of the released sigs.k8s.io/karpenter, unmodified, under faults with simtest.
package karpenter
