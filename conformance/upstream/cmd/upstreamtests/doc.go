// Command upstreamtests runs client-go's own tests against the drop-in packages and prints how they went.
package main
