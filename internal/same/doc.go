// Package same compares two values of any type, for checks that do so thousands of times a second and nearly always find them equal.
package same
