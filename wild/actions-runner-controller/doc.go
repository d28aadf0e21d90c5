// Package actionsrunnercontroller runs the controllers of runners of the released github.com/actions/actions-runner-controller, unmodified, under faults with simtest.
package actionsrunnercontroller
