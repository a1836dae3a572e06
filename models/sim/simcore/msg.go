package simcore

import "github.com/sarchlab/akita/v3/sim"

// Msg is embedded by every message that crosses a Link.
type Msg struct {
	sim.MsgMeta
	Depart Ps // stamped by the sender: when the first byte is ready to leave
	Arrive Ps // stamped by the link: when the last byte is there
	Back   Ps // added up by links: the latency that a notice has on the same way back
}

// Meta implements sim.Msg.
func (m *Msg) Meta() *sim.MsgMeta { return &m.MsgMeta }

// Stamp implements Timed.
func (m *Msg) Stamp() *Msg { return m }

// Bytes implements Timed for messages whose sender sets TrafficBytes.
func (m *Msg) Bytes() int { return m.TrafficBytes }

// Timed is a message with exact times, as every struct that embeds Msg is.
type Timed interface {
	sim.Msg
	Stamp() *Msg
	Bytes() int // size on a link, without the link's overhead
}

// EarlyReceiver is a component that simulates ahead of the engine's time, such
// as a device that runs a quantum of cycles at once. While LookAhead is true
// at the time of PlugIn, a link hands it each message when it is sent, Arrive
// lying in the future.
type EarlyReceiver interface {
	sim.Component
	LookAhead() bool
}

// EarlySender is a component that decides ahead of the engine's time what it
// sends, and keeps to its credits by itself. While LookAhead is true at the time
// of PlugIn, a link hands it each credit when the receiver returns it, with the
// time from which it may be used; at first it has Port.Window of them.
type EarlySender interface {
	sim.Component
	LookAhead() bool
	CreditReturned(port *Port, usable Ps)
}

var _ Timed = (*Msg)(nil)
