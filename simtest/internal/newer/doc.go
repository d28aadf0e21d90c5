// Package newer looks for source that has changed since a program was built from it. The versions of working copies are all the same, and do not tell.
package newer
