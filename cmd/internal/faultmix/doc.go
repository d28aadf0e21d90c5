// Package faultmix reads the flag --fault-mix, which run, verify and serve have.
//
// It decides nothing about faults: the mixes and their syntax are fakeapiserver/fault's.
package faultmix
