// Package traces is what the tests of reports share: the trace in reports/timeline/testdata, and golden files, which the flag -rewrite
// accepts. Only tests import it.
package traces
