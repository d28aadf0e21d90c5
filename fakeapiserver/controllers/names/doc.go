// Package names has the names of controllers, as `informersim serve --controllers` and simtest.Options.Controllers take them: those of
// kube-controller-manager. It links nothing, so that a command line can be checked without a server.
package names
