// Package tekton runs the controllers of the released github.com/tektoncd/pipeline, unmodified, under faults with simtest.
package tekton
