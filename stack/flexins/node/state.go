package node

import (
	"errors"

	"nictwin/stack/driver"
	"nictwin/stack/flexins/data"
	"nictwin/stack/verbs"
)

// Processes returns the number of processes, from Config.Hosts.
func (n *Node) Processes() int { return len(n.libs) }

// Context returns the device as a process sees it.
func (n *Node) Context(process int) verbs.Context { return n.libs[process] }

// Driver returns the NIC's driver, for counters and control registers.
func (n *Node) Driver() *driver.Driver { return n.drv }

// Ready reports whether the NIC is set up.
func (n *Node) Ready() bool { return n.up }

// Stats returns the sum of the data cores' counters.
func (n *Node) Stats() data.Stats { return n.data.Stats() }

// OnTake sets a function that is called when a data core takes a request, with its queue pair's number.
func (n *Node) OnTake(f func(qpn uint32)) { n.data.OnTake(f) }

// Depths returns the lengths of the data cores' queues.
func (n *Node) Depths() data.Depths { return n.data.Depths() }

// Timers returns the number of connections with an armed timer, which have something in flight.
func (n *Node) Timers() int { return n.data.Timers() }

// Timer returns the queue pair whose timer runs out first; ok is false if none is armed.
func (n *Node) Timer() (qpn uint32, ok bool) { return n.data.Timer() }

// Progress returns a number that changes when a queue pair makes progress; retransmissions do not count.
func (n *Node) Progress() uint64 { return n.data.Progress() }

// Err returns the errors of all parts, or nil.
func (n *Node) Err() error {
	err := errors.Join(n.drv.Err(), n.data.Err(), n.control.Err())
	for _, lib := range n.libs {
		err = errors.Join(err, lib.Err())
	}
	for _, e := range n.engines {
		err = errors.Join(err, e.err)
	}
	return err
}

// Idle reports whether nothing is in flight except frames and timers.
func (n *Node) Idle() bool {
	for _, lib := range n.libs {
		if !lib.Idle() {
			return false
		}
	}
	for _, e := range n.engines {
		if !e.Idle() {
			return false
		}
	}
	return n.data.Idle() && n.drv.Idle()
}

// Close stops the loops of the libraries, their pipes and the engine; timers of connections may still run.
func (n *Node) Close() {
	for i, lib := range n.libs {
		n.data.Detach(contextID(i))
		lib.Close()
	}
	for _, e := range n.engines {
		e.Close()
	}
}
