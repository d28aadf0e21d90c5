// Package selectors parses the selectors of a list or a watch, for checks and informers that do so for each of thousands of requests, most of which have none.
package selectors
