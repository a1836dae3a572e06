package drivertest

import (
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
)

// Late is a bus whose memory accesses take time: they take effect one after the other, each when the simulation calls a
// function passed to Soon. They do not delay register writes.
type Late struct {
	driver.Bus
	Soon func(f func()) // schedules a call of f

	queue fifo.Queue[func()]
}

// Read implements driver.Bus.
func (l *Late) Read(addr uint64, b []byte, done func(error)) {
	l.later(func() { l.Bus.Read(addr, b, done) })
}

// Write implements driver.Bus.
func (l *Late) Write(addr uint64, b []byte, done func(error)) {
	l.later(func() { l.Bus.Write(addr, b, done) })
}

func (l *Late) later(f func()) {
	l.queue.Push(f)
	l.Soon(func() { l.queue.Pop()() })
}

var _ driver.Bus = (*Late)(nil)
