// Command upstreamtests runs client-go's own tests against the drop-in packages and prints the results.
package main
