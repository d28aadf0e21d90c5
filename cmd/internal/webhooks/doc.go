// Package webhooks asks the admission webhooks of a served cluster over the network, in real time: several at the same time, and for a
// minute at most. What they are asked, and when, is fakeapiserver/admission's. Nothing in a step may wait for them.
//
// Conversion webhooks are the exception: what needs a conversion waits for it, and that is within a step.
package webhooks
