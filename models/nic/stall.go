package nic

import "nictwin/models/boundary"

// stall says in which cycles a stream stands still.
type stall struct {
	at func(cycle int64) bool // nil: in none
}

// Names of the streams that a boundary.Stalls is asked for; frames out have
// one for each port.
const (
	StreamTLPOut = "tlp_out"
	StreamTLPIn  = "tlp_in"
	StreamEthOut = "eth_out"
)

func stallOf(s boundary.Stalls, stream string) stall {
	if s == nil {
		return stall{}
	}
	return stall{s.Of(stream)}
}

// from returns the first cycle from the given one on in which the stream moves.
func (s *stall) from(cycle int64) int64 {
	if s.at == nil {
		return cycle
	}
	for s.at(cycle) {
		cycle++
	}
	return cycle
}

// beats returns the cycle of the last of n beats of which the first may move
// in the given cycle.
func (s *stall) beats(cycle int64, n int) int64 {
	if s.at == nil {
		return cycle + int64(n) - 1
	}
	for {
		cycle = s.from(cycle)
		if n--; n == 0 {
			return cycle
		}
		cycle++
	}
}
