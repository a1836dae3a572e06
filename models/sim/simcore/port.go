package simcore

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// RetrievalWatcher is a connection that is notified of every message that a component takes out of
// the buffer of one of its ports, before the component gets it. It must not deliver a message
// during the notification.
type RetrievalWatcher interface {
	sim.Connection
	Retrieved(port *Port, msg sim.Msg)
}

// refused is the result of every refused Send and Recv.
var refused = sim.NewSendError()

// Port is a sim.Port with a ring buffer for the messages received. It takes no
// locks and allocates nothing; hooks may call any of its methods.
type Port struct {
	sim.HookableBase

	name string
	comp sim.Component
	conn sim.Connection
	lane *lane // lane to the peer, if conn is a Link
	from *lane // lane from the peer, if conn is a Link

	watcher RetrievalWatcher // conn, if it watches retrievals

	ring    []sim.Msg
	head, n int
	busy    bool // a message was refused since the last Retrieve
}

// NewPort makes a port of comp that holds up to capacity received messages. It
// panics if the capacity is not positive or Akita does not accept the name.
func NewPort(comp sim.Component, capacity int, name string) *Port {
	sim.NameMustBeValid(name)
	if capacity <= 0 {
		panic(fmt.Sprintf("simcore: port %s has capacity %d: want at least 1", name, capacity))
	}
	return &Port{name: name, comp: comp, ring: make([]sim.Msg, capacity)}
}

// Name implements sim.Port.
func (p *Port) Name() string { return p.name }

// Component implements sim.Port.
func (p *Port) Component() sim.Component { return p.comp }

// Capacity returns the number of received messages that the port can hold.
func (p *Port) Capacity() int { return len(p.ring) }

// Len returns the number of received messages not retrieved yet.
func (p *Port) Len() int { return p.n }

// Plugged reports whether the port is connected.
func (p *Port) Plugged() bool { return p.conn != nil }

// SetConnection implements sim.Port. Connections call it from PlugIn, and with
// nil from Unplug. It panics if another connection is plugged in.
func (p *Port) SetConnection(conn sim.Connection) {
	if conn != nil && p.conn != nil && p.conn != conn {
		panic(fmt.Sprintf("simcore: port %s is plugged in already", p.name))
	}
	p.conn = conn
	p.lane, p.from = nil, nil
	p.watcher, _ = conn.(RetrievalWatcher)
}

// Connection returns the connection that the port is plugged into, or nil.
func (p *Port) Connection() sim.Connection { return p.conn }

// CanSend implements sim.Port. After false, the component gets NotifyPortFree when a retry may
// succeed.
func (p *Port) CanSend() bool {
	if p.lane != nil {
		return p.lane.canSend()
	}
	return p.connection().CanSend(p)
}

// Send implements sim.Port. It sets Src to this port; a Link sets Dst.
func (p *Port) Send(msg sim.Msg) *sim.SendError {
	d := p.lane
	if d == nil {
		return p.sendOverOther(msg)
	}
	if !d.send(msg, p) {
		return refused
	}
	if p.NumHooks() != 0 {
		p.hook(sim.HookPosPortMsgSend, msg)
	}
	if d.early {
		d.handOver(msg)
	}
	return nil
}

// sendOverOther sends over a connection that is not a Link.
func (p *Port) sendOverOther(msg sim.Msg) *sim.SendError {
	msg.Meta().Src = p
	if p.connection().Send(msg) != nil {
		return refused
	}
	if p.NumHooks() != 0 {
		p.hook(sim.HookPosPortMsgSend, msg)
	}
	return nil
}

// SendAt stamps the time of departure and sends.
func (p *Port) SendAt(msg Timed, depart Ps) *sim.SendError {
	msg.Stamp().Depart = depart
	return p.Send(msg)
}

// Recv implements sim.Port: a connection delivers a message.
func (p *Port) Recv(msg sim.Msg) *sim.SendError {
	if !p.accept(msg) {
		return refused
	}
	if p.comp != nil {
		p.comp.NotifyRecv(msg.Meta().RecvTime, p)
	}
	return nil
}

// accept stores a message if there is room.
func (p *Port) accept(msg sim.Msg) bool {
	if p.n == len(p.ring) {
		p.busy = true
		return false
	}
	i := p.head + p.n
	if i >= len(p.ring) {
		i -= len(p.ring)
	}
	p.ring[i] = msg
	p.n++
	if p.NumHooks() != 0 {
		p.hook(sim.HookPosPortMsgRecvd, msg)
	}
	return true
}

// Peek implements sim.Port: it returns the oldest message, nil if the port has no message.
func (p *Port) Peek() sim.Msg {
	if p.n == 0 {
		return nil
	}
	return p.ring[p.head]
}

// At returns the received message with i older ones before it.
func (p *Port) At(i int) sim.Msg {
	if i += p.head; i >= len(p.ring) {
		i -= len(p.ring)
	}
	return p.ring[i]
}

// Retrieve implements sim.Port: it removes and returns the oldest message, nil if the port has no
// message.
func (p *Port) Retrieve(now sim.VTimeInSec) sim.Msg {
	if p.n == 0 {
		return nil
	}
	msg := p.ring[p.head]
	p.ring[p.head] = nil
	if p.head++; p.head == len(p.ring) {
		p.head = 0
	}
	p.n--
	if p.NumHooks() != 0 {
		p.hook(sim.HookPosPortMsgRetrieve, msg)
	}
	if p.from != nil {
		p.from.retrieved()
	} else if p.watcher != nil {
		p.watcher.Retrieved(p, msg)
	}
	if p.busy {
		p.busy = false
		p.connection().NotifyAvailable(now, p)
	}
	return msg
}

// NotifyAvailable implements sim.Port: the connection can take a message again.
func (p *Port) NotifyAvailable(now sim.VTimeInSec) {
	if p.comp != nil {
		p.comp.NotifyPortFree(now, p)
	}
}

func (p *Port) connection() sim.Connection {
	if p.conn == nil {
		panic(fmt.Sprintf("simcore: port %s is not plugged in", p.name))
	}
	return p.conn
}

func (p *Port) hook(pos *sim.HookPos, msg sim.Msg) {
	p.InvokeHook(sim.HookCtx{Domain: p, Pos: pos, Item: msg})
}

var _ sim.Port = (*Port)(nil)
