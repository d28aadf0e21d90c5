// Package terminal puts what package timeline reads from a trace into lines for a terminal: why a run failed, where each version of an
// object got to, and the state of every part at a step. The texts have 80 columns and no color; [Paint] fits any text to a terminal.
package terminal
