// Package html renders a run as one self-contained HTML file: the verdict and why, the story, a space-time diagram to step through, what
// became of each version of each object, requests, faults and properties.
//
// The file is made from the trace alone, so equal traces give equal bytes. It loads nothing, and a Content-Security-Policy lets it run no
// script but its own: names in a trace come from anywhere, and stay text. It stays under [MaxBytes]; what is left out is said in words.
//
// What a run means is read by package timeline; this package only chooses, and draws.
package html
