// Package perfetto renders a run for trace viewers such as ui.perfetto.dev: lanes are threads, grouped by the informer or client that they
// belong to; what was held, down or deaf is a slice; what went from one part to another is a flow. It is made from the trace alone.
//
// Many steps happen at one instant of virtual time, so a microsecond of the viewer is a step; each event has its virtual time.
package perfetto
