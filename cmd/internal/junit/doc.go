// Package junit writes verdicts as JUnit does, in the elements that CI systems read, and as the summary of a GitHub job. It must not know what
// the verdicts are about.
package junit
