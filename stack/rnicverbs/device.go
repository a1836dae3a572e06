package rnicverbs

import (
	"errors"
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
)

// Device is the driver of a NIC.
type Device struct {
	bus   driver.Bus
	arena *driver.Arena
	err   error

	commands fifo.Queue[command]
	running  bool
	seq      uint16
	window   [rnicspec.CmdBytes]byte
	cqn, qpn uint32
	handle   uint32
	free     []uint32 // numbers of destroyed queue pairs, for reuse
	srqn     uint32
	freeSRQ  []uint32 // numbers of destroyed shared receive queues, for reuse
}

// command is a command of the NIC or, without cmd, a callback between commands.
type command struct {
	cmd     rnicspec.Command
	then    func(value uint32)
	blocked func() bool         // while it returns true, neither this command nor later ones begin; nil: never
	try     func(uint32, error) // gets the result; a refusal then does not end the driver
}

// RefusedError reports a command that the NIC refused.
type RefusedError struct {
	Command rnicspec.Command
	Why     rnicspec.Refusal
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("rnicverbs: the NIC refuses %T %+v: %v", e.Command, e.Command, e.Why)
}

// Errors that calls return.
var (
	ErrFull    = errors.New("rnicverbs: the ring is full: want completions polled first")
	ErrStopped = errors.New("rnicverbs: the driver has ended: see Device.Err")
)

// Open returns a driver that accesses its NIC through bus and keeps its queues in arena.
func Open(bus driver.Bus, arena *driver.Arena) (*Device, error) {
	if bus == nil || arena == nil {
		return nil, errors.New("rnicverbs: want a bus that reaches a NIC, and memory for queues")
	}
	d := &Device{bus: bus, arena: arena}
	d.commands.Push(command{})
	d.running = true
	bus.ReadReg(rnicspec.RegID, 8, d.probed)
	return d, nil
}

// BusOr returns a bus, or that of the driver if it is nil.
func (d *Device) BusOr(bus driver.Bus) driver.Bus {
	if bus == nil {
		return d.bus
	}
	return bus
}

// probed handles the NIC's identification.
func (d *Device) probed(v uint64, err error) {
	d.commands.Pop()
	d.running = false
	switch {
	case err != nil:
		d.fail(err)
	case v != rnicspec.Magic|rnicspec.Version<<32:
		d.fail(fmt.Errorf("rnicverbs: registers ID and VERSION read %#x: want %#x, an rnic", v,
			uint64(rnicspec.Magic|rnicspec.Version<<32)))
	}
	d.next()
}

// Err returns the first error that was not returned to a caller, or nil.
func (d *Device) Err() error { return d.err }

func (d *Device) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	if !d.running {
		d.next()
	}
}

// Try makes the NIC carry out a command. Function then gets the result's value or an error: a *RefusedError, or
// ErrStopped if the driver has ended. A refusal does not end the driver.
func (d *Device) Try(cmd rnicspec.Command, then func(value uint32, err error)) {
	d.commands.Push(command{cmd: cmd, try: then})
	d.next()
}

// abandon ends the commands that a stopped driver will not carry out.
func (d *Device) abandon() {
	for d.commands.Len() > 0 {
		if c := d.commands.Pop(); c.try != nil {
			c.try(0, ErrStopped)
		}
	}
}

// Do makes the NIC carry out a command. Callback `then`, which may be nil, gets the result's value.
func (d *Device) Do(cmd rnicspec.Command, then func(value uint32)) {
	d.commands.Push(command{cmd: cmd, then: then})
	d.next()
}

// Then calls f when all earlier commands have been carried out.
func (d *Device) Then(f func()) {
	d.commands.Push(command{then: func(uint32) { f() }})
	d.next()
}

// next starts the oldest command, unless one is in progress.
func (d *Device) next() {
	for !d.running && d.err == nil && d.commands.Len() > 0 {
		c := d.commands.Front()
		if c.blocked != nil && c.blocked() {
			return
		}
		if c.cmd == nil {
			d.commands.Pop().then(0)
			continue
		}
		d.running = true
		d.seq++
		rnicspec.EncodeCommand(c.cmd, d.seq, d.window[:])
		if err := d.bus.WriteReg(rnicspec.RegCommand, d.window[:]); err != nil {
			d.running = false
			d.fail(err)
			return
		}
		d.bus.ReadReg(rnicspec.RegResult, 8, d.ended) // the write is posted: the read pushes the write to the NIC
	}
	if !d.running && d.err != nil {
		d.abandon()
	}
}

// ended handles the result of a command.
func (d *Device) ended(v uint64, err error) {
	c := d.commands.Pop()
	d.running = false
	r := rnicspec.ResultOf(v)
	if c.try != nil && (err != nil || r.Seq != d.seq) {
		defer c.try(0, ErrStopped)
	}
	switch {
	case err != nil:
		d.fail(err)
	case r.Seq != d.seq:
		d.fail(fmt.Errorf("rnicverbs: the result is that of command %d: want %d", r.Seq, d.seq))
	case c.try != nil && r.Code != 0:
		c.try(r.Value, &RefusedError{c.cmd, rnicspec.Refusal(r.Code)})
	case c.try != nil:
		c.try(r.Value, nil)
	case r.Code != 0:
		d.fail(&RefusedError{c.cmd, rnicspec.Refusal(r.Code)})
	case c.then != nil:
		c.then(r.Value)
	}
	d.next()
}

// Write writes a register at once, before commands that wait. An error ends the driver.
func (d *Device) Write(reg uint32, b []byte) {
	if err := d.bus.WriteReg(reg, b); err != nil {
		d.fail(err)
	}
}

// MarkArriving makes the NIC treat ECN-capable packets as marked when they arrive, or ends that. The core of a bus
// writes the register; nil: that of the driver. An error ends the driver.
func (d *Device) MarkArriving(bus driver.Bus, on bool) {
	var word [4]byte
	if on {
		word[0] = 1
	}
	if err := d.BusOr(bus).WriteReg(rnicspec.RegMark, word[:]); err != nil {
		d.fail(err)
	}
}

// SetPort sets the addresses of a port.
func (d *Device) SetPort(p rnicspec.SetPort) { d.Do(&p, nil) }

// SetContext gives the NIC memory for its contexts.
func (d *Device) SetContext(bytes uint64) error {
	at, err := d.arena.Alloc(bytes, rnicspec.CmdBytes)
	if err == nil {
		d.arena.Mark(at, bytes, driver.UseContexts)
		d.Do(&rnicspec.SetContext{Addr: at, Bytes: bytes}, nil)
	}
	return err
}

// RegMR creates a memory region.
func (d *Device) RegMR(m rnicspec.CreateMR) { d.Do(&m, nil) }

// DeregMR destroys a memory region; a refusal ends the driver.
func (d *Device) DeregMR(key uint32) {
	d.TryDeregMR(key, func(err error) {
		if err != nil {
			d.fail(err)
		}
	})
}

// TryDeregMR destroys a memory region as soon as the NIC has copied all slow packets into it.
func (d *Device) TryDeregMR(key uint32, done func(error)) {
	d.Try(&rnicspec.DestroyMR{Key: key}, func(_ uint32, err error) {
		if r := (*RefusedError)(nil); errors.As(err, &r) && r.Why == rnicspec.RefusedState {
			d.TryDeregMR(key, done)
			return
		}
		done(err)
	})
}

// NewAH creates an address handle and returns its number.
func (d *Device) NewAH(a rnicspec.CreateAH) uint32 {
	a.Handle = d.NextHandle()
	d.Do(&a, nil)
	return a.Handle
}

// NextHandle returns a new number for an address handle.
func (d *Device) NextHandle() uint32 {
	d.handle++
	return d.handle
}
