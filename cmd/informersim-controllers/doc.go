// Command informersim-controllers has Kubernetes' own controllers for Go tests whose Options.Controllers name some, such as deployment. The engine of package
// simtest finds or builds it, with the overlay of Go's runtime, starts it beside itself, and talks to it by its standard input and output. It is of no use to anybody else.
package main
