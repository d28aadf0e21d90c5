package fakeapiserver

// Policy says which replica serves a client's requests.
type Policy struct {
	spread  spread
	replica int
}

type spread uint8

const (
	spreadSticky spread = iota
	spreadRoundRobin
	spreadChoice
)

// Sticky sends all requests to one replica. It is the zero Policy, with replica 0.
func Sticky(replica int) Policy { return Policy{spread: spreadSticky, replica: replica} }

// RoundRobin sends each request to the next replica, in one round over all clients that do so.
func RoundRobin() Policy { return Policy{spread: spreadRoundRobin} }

// ByChoice sends each request to a replica drawn from the stream "NAME/replica" of the run.
func ByChoice() Policy { return Policy{spread: spreadChoice} }
