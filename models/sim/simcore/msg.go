package simcore

import "github.com/sarchlab/akita/v3/sim"

// Msg is embedded by every message that crosses a Link.
type Msg struct {
	sim.MsgMeta
	Depart Ps // set by the sender: when the first byte is ready to leave
	Arrive Ps // set by the link: arrival of the last byte
	Back   Ps // summed up by links: the latency of a notice sent back along the route
}

// Meta implements sim.Msg.
func (m *Msg) Meta() *sim.MsgMeta { return &m.MsgMeta }

// Stamp implements Timed.
func (m *Msg) Stamp() *Msg { return m }

// Bytes implements Timed for messages whose sender sets TrafficBytes.
func (m *Msg) Bytes() int { return m.TrafficBytes }

// Timed is a message with exact times; every struct that embeds Msg is one.
type Timed interface {
	sim.Msg
	Stamp() *Msg
	Bytes() int // size on a link, without the link's overhead
}

// EarlyReceiver is a component that simulates ahead of the engine's time, such as a device that
// runs a quantum of cycles at once. If LookAhead is true at the time of PlugIn, a link hands it
// each message when it is sent, with Arrive in the future.
type EarlyReceiver interface {
	sim.Component
	LookAhead() bool
}

// EarlySender is a component that decides ahead of the engine's time what it sends, and tracks its
// credits itself. If LookAhead is true at the time of PlugIn, a link hands it each credit when the
// receiver returns it, with the time from which it may be used; initially it has Port.Window
// credits.
type EarlySender interface {
	sim.Component
	LookAhead() bool
	CreditReturned(port *Port, usable Ps)
}

var _ Timed = (*Msg)(nil)
