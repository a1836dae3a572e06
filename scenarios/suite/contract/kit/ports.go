package kit

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic"
)

// PortOf converts a port number of checks to that of the NIC, or back: checks call the port under test 0. Numbers
// beyond the build stay the same.
func (r *Rig) PortOf(p int) int {
	if p < r.Sizes.Ports {
		return p ^ r.eth
	}
	return p
}

// CounterOf converts the index of a port's counter between the port numbers of checks and of the NIC, in either
// direction.
func (r *Rig) CounterOf(i int) int {
	if _, p := nicspec.CounterAt(i); p >= 0 {
		return i + (r.PortOf(p)-p)*nicspec.CounterPortStride
	}
	return i
}

func (r *Rig) Player(port int) *traffic.Player { return r.Bed.Players[r.PortOf(port)] }

// PlayOn plays frames on a port, back to back, behind the frames already being played.
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
