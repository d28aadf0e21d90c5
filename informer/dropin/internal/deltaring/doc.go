// Package deltaring is the storage of an in-order queue: deltas with their keys, first in first out. It is not safe for
// concurrent use, and knows nothing of what deltas mean.
package deltaring
