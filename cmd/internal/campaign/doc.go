// Package campaign keeps what `informersim fuzz` has done and found: in a folder, so that it can go on later and be merged with other
// shards, and as text, Markdown and JUnit.
//
// It owns the folder's layout: campaign.json says what was asked, how far each shard has come and what was found, and
// findings/NAME has the files of a finding. Seeds are worked off in order, so a number says how far a shard is, and nothing is lost
// when its process is killed: at most a few seconds of runs are made again.
//
// What may not be done here: make a run, or decide what a finding is.
package campaign
