package player

import "errors"

// close closes the gate before the NIC for so many cycles from now on: its TLPs pile up on the link, and then in the
// NIC.
func (x *player) close(cycles int) {
	x.b.Gate.Close()
	x.opens = x.b.Engine.Now() + x.b.Cycles(cycles)
}

// open lets time pass until the gate opens, and opens it.
func (x *player) open() error {
	err := x.b.Engine.RunUntil(x.opens)
	x.opens = 0
	x.b.Gate.Open()
	return errors.Join(err, x.b.Err())
}
