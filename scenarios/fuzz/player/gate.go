package player

import "errors"

// close closes the gate in front of the NIC for a number of cycles: its TLPs back up on the link, and then in the
// NIC.
func (x *player) close(cycles int) {
	x.b.Gate.Close()
	x.gateOpensAt = x.b.Engine.Now() + x.b.Cycles(cycles)
}

// open waits until the gate is due to open, and opens it.
func (x *player) open() error {
	err := x.b.Engine.RunUntil(x.gateOpensAt)
	x.gateOpensAt = 0
	x.b.Gate.Open()
	return errors.Join(err, x.b.Err())
}
