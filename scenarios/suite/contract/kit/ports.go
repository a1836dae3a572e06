package kit

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic"
)

// PortOf converts between the port numbers of checks and of the NIC, in either direction: port 0 of
// checks is the port under test. Ports beyond the build are unchanged.
func (r *Rig) PortOf(p int) int {
	if p < r.Sizes.Ports {
		return p ^ r.eth
	}
	return p
}

// CounterOf converts a counter's index between the numbering of checks and of the NIC, in either
// direction.
func (r *Rig) CounterOf(i int) int {
	if _, p := nicspec.CounterAt(i); p >= 0 {
		return i + (r.PortOf(p)-p)*nicspec.CounterPortStride
	}
	return i
}

func (r *Rig) Player(port int) *traffic.Player { return r.Bed.Players[r.PortOf(port)] }

// PlayOn plays frames on a port, back to back after those played before.
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
