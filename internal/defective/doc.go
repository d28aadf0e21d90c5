// Package defective builds programs of this module with a defect, for tests that show what becomes of one.
//
// What may not be done here: anything that a program needs. Only tests import it.
package defective
