// Package argorollouts runs the controllers of the released github.com/argoproj/argo-rollouts, unmodified, under faults with simtest.
package argorollouts
