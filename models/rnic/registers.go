package rnic

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// takeTLP handles a TLP received on the PCIe port.
func (c *Comp) takeTLP(now simcore.Ps, p *msg.TLP) {
	c.crossTLP(now, p, true)
	h, err := p.Header()
	if err != nil {
		c.fail(fmt.Errorf("received a TLP that cannot be decoded: %w", err))
		return
	}
	switch {
	case h.Kind.IsCompletion():
		c.completion(&h, p.Data)
	case h.Kind == tlp.MWr:
		runs := h.Runs(p.Data)
		for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
			c.writeRegister(addr-c.bar, b)
		}
	case h.Kind == tlp.MRd:
		c.answer(&h)
	default:
		c.counters[rnicspec.CntWrongAccess]++
	}
	c.tlps.Put(p)
}

// answer completes a read of registers.
func (c *Comp) answer(h *tlp.Header) {
	r, err := c.completer.Begin(h)
	if err != nil {
		c.fail(err)
		return
	}
	for r.More() {
		p := c.tlps.Get()
		if err := r.Fill(&p.Packet, c.readReg); err != nil {
			c.fail(err)
			return
		}
		c.dma.out.Push(p)
	}
}

// readRegister is a tlp.ReadFunc. Offsets without a register read as zero.
func (c *Comp) readRegister(addr uint64, dst []byte) error {
	var word [8]byte
	clear(dst)
	off := addr - c.bar
	base := off &^ 7
	v := uint64(0)
	switch {
	case base == rnicspec.RegID:
		v = rnicspec.Magic | rnicspec.Version<<32
	case base == rnicspec.RegQPs:
		v = rnicspec.MaxQPs | rnicspec.MaxRead<<32
	case base == rnicspec.RegResult:
		v = c.result.Word()
	case base == rnicspec.RegMark:
		v = uint64(c.marking)
	case base >= rnicspec.RegCounters && base < rnicspec.RegCounters+8*uint64(rnicspec.NumCounters):
		v = c.Counter(rnicspec.Counter((base - rnicspec.RegCounters) / 8))
	case base >= rnicspec.RegAccounts && base < rnicspec.RegAccounts+rnicspec.MaxAccounts*rnicspec.AccountBytes &&
		base%rnicspec.AccountBytes == rnicspec.AccountCredit:
		v = c.accountState((base - rnicspec.RegAccounts) / rnicspec.AccountBytes)
	default:
		c.counters[rnicspec.CntWrongAccess]++
		return nil
	}
	binary.LittleEndian.PutUint64(word[:], v)
	copy(dst, word[off-base:])
	return nil
}

// writeRegister handles a write to the register space.
func (c *Comp) writeRegister(off uint64, b []byte) {
	switch {
	case off >= nicspec.BarBytes:
		c.counters[rnicspec.CntWrongAccess]++
	case off >= rnicspec.RegPages && off < rnicspec.RegPages+rnicspec.MaxQPs*rnicspec.PageBytes:
		off -= rnicspec.RegPages
		c.doorbell(uint32(off/rnicspec.PageBytes), off%rnicspec.PageBytes, b)
	case off >= rnicspec.RegSRQs && off < rnicspec.RegSRQs+rnicspec.MaxSRQs*8:
		c.sharedDoorbell(uint32(off-rnicspec.RegSRQs), b)
	case off >= rnicspec.RegAccounts && off < rnicspec.RegAccounts+rnicspec.MaxAccounts*rnicspec.AccountBytes:
		c.accountRegister(uint32(off-rnicspec.RegAccounts), b)
	case off >= rnicspec.RegCommand && off+uint64(len(b)) <= rnicspec.RegCommand+rnicspec.CmdBytes:
		copy(c.command[off-rnicspec.RegCommand:], b)
		if off+uint64(len(b)) == rnicspec.RegCommand+rnicspec.CmdBytes {
			c.runCommand()
		}
	case off == rnicspec.RegMark && len(b) == 4 && binary.LittleEndian.Uint32(b) <= 1:
		c.marking = binary.LittleEndian.Uint32(b)
	default:
		c.counters[rnicspec.CntWrongAccess]++
	}
}

// sharedDoorbell handles a write to the doorbell of a shared receive queue.
func (c *Comp) sharedDoorbell(off uint32, b []byte) {
	s := c.srqs[off/8]
	if s == nil || off%8 != 0 || len(b) != 4 {
		c.counters[rnicspec.CntWrongAccess]++
		return
	}
	c.ring(nil, &s.ring, uint16(binary.LittleEndian.Uint32(b)))
}

// doorbell handles a write to a queue pair's page.
func (c *Comp) doorbell(qpn uint32, off uint64, b []byte) {
	q := c.qps[qpn]
	switch {
	case q == nil:
	case off == rnicspec.PageSend && len(b) == 4:
		c.ring(q, &q.send, uint16(binary.LittleEndian.Uint32(b)))
		return
	case off == rnicspec.PageRecv && len(b) == 4 && q.shared == nil:
		c.ring(q, &q.recv, uint16(binary.LittleEndian.Uint32(b)))
		return
	case off == rnicspec.PagePush && len(b) == rnicspec.WQEBytes:
		c.push(q, b)
		return
	}
	c.counters[rnicspec.CntWrongAccess]++
}
