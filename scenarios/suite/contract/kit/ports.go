package kit

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic"
)

// PortOf is the NIC's number of a port as checks count them, or the other way round: port 0 is the one under test.
// Ports beyond the build are what they are.
func (r *Rig) PortOf(p int) int {
	if p < r.Sizes.Ports {
		return p ^ r.eth
	}
	return p
}

// CounterOf is the NIC's index of a counter as checks count them, or the other way round.
func (r *Rig) CounterOf(i int) int {
	if _, p := nicspec.CounterAt(i); p >= 0 {
		return i + (r.PortOf(p)-p)*nicspec.CounterPortStride
	}
	return i
}

func (r *Rig) Player(port int) *traffic.Player { return r.Bed.Players[r.PortOf(port)] }

// PlayOn plays frames in on a port, back to back after those before.
func (r *Rig) PlayOn(port int, frames ...[]byte) {
	for _, f := range frames {
		r.Player(port).Play(traffic.Frame{Data: f})
	}
}

// allPlayed reports whether every frame has been played in, on all ports.
func (r *Rig) allPlayed() bool {
	for _, p := range r.Bed.Players {
		if p.Sent() != p.Total() {
			return false
		}
	}
	return true
}
