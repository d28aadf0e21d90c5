// Package mutants are stacks with one defect each, to prove that the properties bite: a harness that finds nothing may have
// nothing to find, or be blind. Each mutant says which property must break, and a test holds it to that.
//
// A mutant is a test double put into the stack from outside (stack.Parts). The package is for tests: no product code may
// import it, and no defect may be reachable by a flag of the product.
package mutants
