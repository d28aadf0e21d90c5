package fakeapiserver

// Policy chooses the replica that serves each request of a client.
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

// Sticky sends all requests to one replica. Sticky(0) is the zero Policy.
func Sticky(replica int) Policy { return Policy{spread: spreadSticky, replica: replica} }

// RoundRobin sends each request to the next replica, in a round shared by all RoundRobin clients.
func RoundRobin() Policy { return Policy{spread: spreadRoundRobin} }

// ByChoice sends each request to a replica drawn from the run's stream "NAME/replica".
func ByChoice() Policy { return Policy{spread: spreadChoice} }
