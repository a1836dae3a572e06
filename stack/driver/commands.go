package driver

import (
	"encoding/binary"
	"fmt"
	"iter"

	"nictwin/models/nic/nicspec"
)

// command is one step of an operation requested from the driver.
type command struct {
	kind   commandKind
	off    uint32
	bytes  int
	value  uint64
	what   string                       // names a table command in errors
	read   func(v uint64)               // takes the value of a read
	ended  func(nicspec.TableStatus)    // takes the status of a table command; nil: the status must be Ok
	action func(done func())            // the command ends when it calls done
	poll   func(v uint64) (enough bool) // checks a polled register
	rule   string                       // rule of the contract that is broken if polling never succeeds
}

type commandKind uint8

const (
	cmdWrite  commandKind = iota // register write: posted, so it ends at once
	cmdRead                      // register read
	cmdTable                     // table command: write, then read until not busy
	cmdPoll                      // read until a condition holds
	cmdCall                      // call `action`, which does not use `done`, and continue at once
	cmdAction                    // call `action` and wait until it calls `done`
)

// Begun returns the number of commands begun so far. Polling a register is one command.
func (d *Driver) Begun() uint64 { return d.begun }

// Idle reports whether all commands have been carried out.
func (d *Driver) Idle() bool { return d.commands.Len() == 0 && !d.waiting && !d.running }

// Write32 writes a 32-bit register.
func (d *Driver) Write32(off, v uint32) { d.add(command{kind: cmdWrite, off: off, value: uint64(v)}) }

// ReadReg reads n bytes (4 or 8) of the register space at byte offset off, and calls done with the value.
func (d *Driver) ReadReg(off uint32, n int, done func(v uint64)) {
	d.add(command{kind: cmdRead, off: off, bytes: n, read: done})
}

// Then calls f when all earlier commands have ended.
func (d *Driver) Then(f func()) { d.add(command{kind: cmdCall, action: func(func()) { f() }}) }

// Await calls f when all earlier commands have ended; later commands wait until f has called done.
func (d *Driver) Await(f func(done func())) { d.add(command{kind: cmdAction, action: f}) }

// WriteTable commits an entry [G6], which must be valid: a NIC that refuses it breaks the contract.
func (d *Driver) WriteTable(t nicspec.Table, index int, entry []byte) error {
	return d.table(nicspec.TableOpWrite, t, index, entry, nil)
}

// Staged iterates over the register writes that put an entry, whose length is a multiple of four bytes, into TBL_DATA.
// The command that commits it follows [G6].
func Staged(entry []byte) iter.Seq2[uint32, uint32] {
	return func(yield func(off, word uint32) bool) {
		for i := 0; i+4 <= len(entry); i += 4 {
			if !yield(nicspec.RegTblData(i/4), binary.LittleEndian.Uint32(entry[i:])) {
				return
			}
		}
	}
}

// TryTable carries out any table command and reports its status. The NIC may refuse it.
func (d *Driver) TryTable(op nicspec.TableOp, t nicspec.Table, index int, entry []byte,
	done func(nicspec.TableStatus)) error {
	return d.table(op, t, index, entry, done)
}

// ReadTable reads the first n bytes of an entry.
func (d *Driver) ReadTable(t nicspec.Table, index, n int, done func(entry []byte)) error {
	entry := make([]byte, n)
	if err := d.table(nicspec.TableOpRead, t, index, entry, nil); err != nil {
		return err
	}
	for i := 0; i < n; i += 4 {
		d.ReadReg(nicspec.RegTblData(i/4), 4, func(v uint64) { binary.LittleEndian.PutUint32(entry[i:], uint32(v)) })
	}
	d.Then(func() { done(entry) })
	return nil
}

// table adds a table command, with the entry written before it. ended gets the status; nil: it must be Ok.
func (d *Driver) table(op nicspec.TableOp, t nicspec.Table, index int, entry []byte,
	ended func(nicspec.TableStatus)) error {
	const most = 4 * nicspec.TableWords
	if len(entry)%4 != 0 || len(entry) > most {
		return fmt.Errorf("driver: entry of table %v has %d B: want a multiple of 4, %d at most [G6]", t, len(entry),
			most)
	}
	if index < 0 || index > 0xffff {
		return fmt.Errorf("driver: table %v has no entry %d: want an index of 16 bits [G6]", t, index)
	}
	if op == nicspec.TableOpWrite {
		for off, word := range Staged(entry) {
			d.Write32(off, word)
		}
	}
	d.add(command{
		kind: cmdTable, value: uint64(nicspec.NewTblCmd(op, t, index)), ended: ended,
		what: fmt.Sprintf("table %v entry %d", t, index),
	})
	return nil
}

func (d *Driver) add(c command) {
	d.commands.Push(c)
	d.runCommands()
}

// runCommands carries out commands until one has to wait for the NIC or memory.
func (d *Driver) runCommands() {
	if d.running {
		return // called from a command's callback: the loop further up the stack continues
	}
	d.running = true
	for d.err == nil && !d.waiting && d.commands.Len() > 0 {
		c := d.commands.Pop()
		d.begin(&c)
	}
	d.running = false
}

// begin starts a command. A command that waits ends by calling resume.
func (d *Driver) begin(c *command) {
	d.begun++
	switch c.kind {
	case cmdWrite:
		d.write32(d.bus, c.off, uint32(c.value))
	case cmdRead:
		d.askRead(c.off, c.bytes, c.read)
	case cmdTable:
		d.write32(d.bus, nicspec.RegTblCmd, uint32(c.value))
		d.pollTable(c)
	case cmdPoll:
		d.pollRegister(c, 1)
	case cmdCall:
		c.action(nil)
	case cmdAction:
		d.waiting = true
		c.action(d.resume)
	}
}

// resume continues after a command that waited.
func (d *Driver) resume() {
	d.waiting = false
	d.runCommands()
}

func (d *Driver) write32(b Bus, off, v uint32) {
	binary.LittleEndian.PutUint32(d.word[:], v)
	d.check(b.WriteReg(off, d.word[:]))
}

func (d *Driver) askRead(off uint32, n int, done func(uint64)) {
	d.waiting = true
	d.bus.ReadReg(off, n, func(v uint64, err error) {
		d.check(err)
		if d.err == nil && done != nil {
			done(v)
		}
		d.resume()
	})
}

// pollTable polls TBL_CMD until the command has ended.
func (d *Driver) pollTable(c *command) {
	var status nicspec.TableStatus
	p := command{off: nicspec.RegTblCmd, bytes: 4, what: c.what + ": TBL_CMD", rule: "G7", poll: func(v uint64) bool {
		r := nicspec.TblCmdReg(v)
		status = nicspec.TableStatus(r.Status())
		return !r.Busy()
	}}
	ended, what := c.ended, c.what
	p.read = func(uint64) {
		switch {
		case ended != nil:
			ended(status)
		case status != nicspec.TableStatusOk:
			d.breach("G6", "%s: refused with status %v", what, status)
		}
	}
	d.pollRegister(&p, 1)
}

// pollRegister polls a register until its condition holds; reads is the number of reads so far.
func (d *Driver) pollRegister(c *command, reads int) {
	d.waiting = true
	p := *c
	d.bus.ReadReg(p.off, p.bytes, func(v uint64, err error) {
		d.check(err)
		switch {
		case d.err != nil:
		case p.poll(v):
			if p.read != nil {
				p.read(v)
			}
		case reads == d.opts.MaxPolls:
			d.breach(p.rule, "%s still busy after %d reads", p.what, reads)
		default:
			d.pollRegister(&p, reads+1)
			return
		}
		d.resume()
	})
}
