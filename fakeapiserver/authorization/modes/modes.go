package modes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The modes that there are, by the names that kube-apiserver's --authorization-mode has for them.
const (
	AlwaysAllow = "AlwaysAllow"
	AlwaysDeny  = "AlwaysDeny"
	Node        = "Node"
	RBAC        = "RBAC"
)

// All lists them.
var All = []string{AlwaysAllow, AlwaysDeny, Node, RBAC}

// elsewhere are the modes of a kube-apiserver that ask a file or a server.
var elsewhere = []string{"ABAC", "Webhook"}

// Check returns why a list of modes cannot be used, nil if it can.
func Check(list []string) error {
	known := strings.Join(All, ", ")
	if len(list) == 0 {
		return errors.New("names no mode: write one or more of " + known + ", separated by commas")
	}
	for i, mode := range list {
		switch {
		case slices.Contains(elsewhere, mode):
			return fmt.Errorf("names %s, which asks a file or another server and is not there: write one or more of %s", mode, known)
		case !slices.Contains(All, mode):
			return fmt.Errorf("names %q, which is no mode: write one or more of %s, separated by commas", mode, known)
		case slices.Contains(list[:i], mode):
			return fmt.Errorf("names %s twice: write it once", mode)
		}
	}
	return nil
}
