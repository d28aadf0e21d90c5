// Package mutants holds stacks with one defect each, to prove that the properties bite: a harness that finds nothing may have
// nothing to find, or be blind. Each mutant names the property that must break, and a test checks that it does.
//
// A mutant is a test double, put into the stack from outside (stack.Parts). The package is for tests: no product code may import
// it, and no flag of the product may enable a defect.
package mutants
