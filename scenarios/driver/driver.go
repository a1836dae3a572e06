package driver

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/boundary"
	"nictwin/models/mem"
	"nictwin/models/nicspec"
	"nictwin/models/root"
)

// Driver drives one NIC.
type Driver struct {
	// ReadsMayFail, if set, reports whether reads of the NIC were made to fail, so that an event is not its fault.
	ReadsMayFail func() bool

	regs *root.MMIO
	mem  *mem.Space
	ops  []op // to be carried out, from next
	next int
	busy bool // an operation waits for its answer
	err  error

	arm, hst uint64 // first free offset of each memory
}

type op struct {
	kind  opKind
	off   uint32
	value uint64
	bytes int
	done  func(value uint64)
	what  string
}

type opKind uint8

const (
	opWrite opKind = iota // register write: posted
	opRead                // register read
	opTable               // table command: write, then read until not busy
	opCall                // tell the caller how far things are
)

// New returns a driver with access to the NIC's registers and to both
// memories. It allocates from these from offset 1 MB on.
func New(regs *root.MMIO, memory *mem.Space) *Driver {
	const low = 1 << 20
	return &Driver{regs: regs, mem: memory, arm: low, hst: low}
}

// Err is the first thing that went wrong, or nil.
func (d *Driver) Err() error { return d.err }

// Idle reports whether all commands were carried out.
func (d *Driver) Idle() bool { return d.next == len(d.ops) && !d.busy }

// fail ends the driver: the device broke a rule of the contract.
func (d *Driver) fail(rule, format string, a ...any) { d.check(boundary.Breach(rule, format, a...)) }

// event ends the driver for an Event entry that nobody takes. Reads of rings fail when the scenario has them fail; else
// the device has no reason for one.
func (d *Driver) event(rule, queue string, number int, status nicspec.Status) {
	if d.ReadsMayFail != nil && d.ReadsMayFail() {
		d.check(fmt.Errorf("%s %d: event with status %v, and no OnEvent to take it", queue, number, status))
		return
	}
	d.fail(rule, "%s %d: event with status %v, but no read failed", queue, number, status)
}

// Alloc takes n bytes of an endpoint's memory, at an address that is a
// multiple of align (a power of two), and returns the bus address.
func (d *Driver) Alloc(endpoint int, n, align uint64) uint64 {
	at := &d.arm
	if endpoint == nicspec.EndpointHost {
		at = &d.hst
	}
	*at = (*at + align - 1) &^ (align - 1)
	bus := mem.Bus(endpoint, *at)
	*at += n
	return bus
}

// WriteReg writes a register when its turn comes.
func (d *Driver) WriteReg(off uint32, v uint32) {
	d.add(op{kind: opWrite, off: off, value: uint64(v)})
}

// ReadReg reads 4 or 8 bytes when its turn comes, and calls done.
func (d *Driver) ReadReg(off uint32, bytes int, done func(uint64)) {
	d.add(op{kind: opRead, off: off, bytes: bytes, done: done})
}

// Then calls f when all that was asked for before is done.
func (d *Driver) Then(f func()) { d.add(op{kind: opCall, done: func(uint64) { f() }}) }

// WriteTable commits an entry [G6].
func (d *Driver) WriteTable(t nicspec.Table, index int, entry []byte) {
	for i := 0; i < len(entry); i += 4 {
		d.WriteReg(nicspec.RegTblData(i/4), binary.LittleEndian.Uint32(entry[i:]))
	}
	cmd := nicspec.NewTblCmd(nicspec.TableOpWrite, t, index)
	d.add(op{kind: opTable, value: uint64(cmd), what: fmt.Sprintf("table %v entry %d", t, index)})
}

func (d *Driver) add(o op) {
	d.ops = append(d.ops, o)
	d.step()
}

// step carries out what can be: up to the next operation that must wait.
func (d *Driver) step() {
	for d.err == nil && !d.busy && d.next < len(d.ops) {
		o := &d.ops[d.next]
		d.next++
		switch o.kind {
		case opWrite:
			d.check(d.regs.Write32(o.off, uint32(o.value)))
		case opRead:
			d.read(o)
		case opTable:
			d.check(d.regs.Write32(nicspec.RegTblCmd, uint32(o.value)))
			d.poll(o, 0)
		case opCall:
			o.done(0)
		}
	}
	if d.next == len(d.ops) && !d.busy {
		d.ops, d.next = d.ops[:0], 0
	}
}

func (d *Driver) check(err error) {
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("driver: %w", err)
	}
}

func (d *Driver) read(o *op) {
	d.busy = true
	done := o.done
	d.check(d.regs.Read(o.off, o.bytes, func(v uint64, err error) {
		d.busy = false
		d.check(err)
		if err == nil {
			done(v)
		}
		d.step()
	}))
}

// maxPolls bounds the wait for a table command: each poll is a round trip.
const maxPolls = 10_000

func (d *Driver) poll(o *op, polls int) {
	d.busy = true
	what := o.what
	d.check(d.regs.Read(nicspec.RegTblCmd, 4, func(v uint64, err error) {
		d.busy = false
		d.check(err)
		cmd := nicspec.TblCmdReg(v)
		switch {
		case err != nil:
		case cmd.Busy() && polls == maxPolls:
			d.fail("G7", "%s: TBL_CMD still busy after %d reads", what, maxPolls)
		case cmd.Busy():
			d.poll(&op{what: what}, polls+1)
			return
		case cmd.Status() != uint32(nicspec.TableStatusOk):
			d.fail("G6", "%s: refused with status %v", what, nicspec.TableStatus(cmd.Status()))
		}
		d.step()
	}))
}

// ReadCounters reads every counter of a device with that many ports and hands them over by index.
func (d *Driver) ReadCounters(ports int, done func([]uint64)) {
	values := make([]uint64, nicspec.RegCounterCount)
	for i := range nicspec.Counters {
		c := &nicspec.Counters[i]
		for p := range ports {
			index := c.Index
			if c.PerPort {
				index += p * nicspec.CounterPortStride
			} else if p > 0 {
				break
			}
			d.ReadReg(nicspec.RegCounter(index), 8, func(v uint64) { values[index] = v })
		}
	}
	d.Then(func() { done(values) })
}
