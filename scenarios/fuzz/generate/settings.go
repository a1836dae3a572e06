package generate

import (
	"encoding/binary"
	"slices"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// setting draws an operation that changes the NIC's configuration.
func (g *generator) setting() program.Op {
	switch g.intN(12) {
	case 0:
		return program.Op{Write: &program.Write{Reg: "RX_CTRL", Value: uint32(g.intN(16))}}
	case 1:
		return program.Op{Write: &program.Write{Reg: "RX_DEFAULT",
			Value: uint32(g.intN(9))<<24 | uint32(pick(g, 1, 1, 1, 1, 0, 2, 3))<<16 | uint32(g.defaultQueue())}}
	case 2:
		return program.Op{Write: &program.Write{Reg: "CTRL", Value: uint32(pick(g, 3, 3, 3, 3, 1, 2, 0))}}
	case 3:
		return program.Op{Write: &program.Write{Reg: "DEVCTL", Value: g.devctl()}}
	case 4:
		return program.Op{Write: &program.Write{Reg: "ROCE_PORT",
			Value: pick(g, uint32(nicspec.ResetRocePort), nicspec.ResetRocePort, nicspec.ResetRocePort, 1001)}}
	case 5:
		return program.Op{Key: g.key()}
	case 6:
		return program.Op{Rule: g.steer(g.intN(len(g.rx)), pick(g, g.rx...))}
	case 7:
		return program.Op{Rule: g.rule()}
	case 8, 9:
		if g.maybe(25) {
			return g.disabled()
		}
		return program.Op{Table: g.table()}
	case 10:
		return g.register()
	}
	return program.Op{Write: &program.Write{Reg: "CTRL", Value: 3}}
}

// defaultQueue draws the queue of RX_DEFAULT, now and then an out-of-range index with valid low bits.
func (g *generator) defaultQueue() int {
	q := pick(g, g.rx...)
	if g.maybe(20) {
		q |= 1 << (9 + g.intN(7))
	}
	return q
}

// key rewrites one of the keys; most valid ones stay valid.
func (g *generator) key() *program.Key {
	i := g.intN(program.Regions)
	k := &program.Key{Index: g.goodKeys()[i], Variant: uint8(g.rng.Uint32()), Base: g.base(), Write: true,
		Place: placeOf(i)}
	switch g.intN(8) {
	case 0:
		k.NoRead = true
	case 1:
		k.Invalid = true
	case 2:
		k.Place.Skew = g.intN(4096)
	}
	return k
}

// steer returns a rule that steers frames to a queue by their destination.
func (g *generator) steer(i, queue int) *program.Rule {
	r := &program.Rule{Index: g.ruleIndex(), Action: nicspec.ActionQueue, Queue: uint16(queue),
		Match: []program.Match{matchDest(i)}}
	if g.Sizes.Has(nicspec.PartRss) && g.maybe(40) {
		r.Action, r.Queue, r.RssLog = nicspec.ActionRss, uint16(pick(g, 0, 8, 255)), uint8(g.intN(9))
	}
	if g.Sizes.Has(nicspec.PartAccounts) && g.maybe(40) {
		r.Account = &program.Account{Account: uint8(pick(g, g.accounts[:]...)), Slow: uint16(pick(g, g.rx...))}
	}
	return r
}

// matchDest matches frames by their destination.
func matchDest(i int) program.Match {
	b := dmac(i)
	return program.Match{Field: "dmac", Value: binary.LittleEndian.Uint64(append(b[:], 0, 0))}
}

// withdraw invalidates a rule between two frames that match it: the second one must not be steered by it [R5].
func (g *generator) withdraw() program.Op {
	i := g.intN(len(g.rx))
	r := g.steer(i, pick(g, g.rx...))
	r.Index = g.intN(3) // a low index, so that other rules follow
	if g.maybe(40) {
		r.Action, r.RssLog, r.Account = nicspec.ActionDrop, 0, nil
	}
	match := func() *program.Play {
		p := g.play()
		for k := range p.Frames {
			if f := &p.Frames[k]; len(f.Raw) == 0 && f.Words == nil { // the frame is no pause
				f.DMAC = dmac(i)
			}
		}
		return p
	}
	g.add(program.Op{Rule: r})
	g.add(program.Op{Post: g.post(g.rx[i], 8)})
	g.add(program.Op{Play: match(), Wait: g.intN(400)})
	off := *r
	off.Off = true
	g.add(program.Op{Rule: &off})
	return program.Op{Play: match()}
}

func (g *generator) ruleIndex() int {
	return pick(g, 0, g.Sizes.NumRules-1, g.intN(g.Sizes.NumRules), g.intN(g.Sizes.NumRules))
}

// rule draws any steering rule.
func (g *generator) rule() *program.Rule {
	r := &program.Rule{Index: g.ruleIndex(), Action: pick(g, nicspec.ActionQueue, nicspec.ActionQueue,
		nicspec.ActionDrop, nicspec.ActionRss, 3, 255),
		Queue: uint16(pick(g, g.queue(g.Sizes.NumRxq), g.queue(g.Sizes.NumRxq), g.Sizes.NumRxq)), Off: g.maybe(30)}
	fields := nicspec.SteerKeyInfo.Fields
	for range 1 + g.intN(2) {
		f := &fields[g.intN(len(fields))]
		if f.Width > 64 {
			continue
		}
		m := program.Match{Field: f.Name, Value: uint64(g.intN(4))}
		if f.Width > 8 && g.maybe(50) {
			m.Value, m.Skip = g.rng.Uint64(), ^uint64(1<<g.intN(8))
		}
		r.Match = append(r.Match, m)
	}
	return r
}

// table draws a table command that leaves keys and rules in force as they are: a read, or a write that is refused in
// most cases.
func (g *generator) table() *program.Table {
	t := &program.Table{
		Op: uint8(pick(g, 1, 1, 1, 2, 2, 2, 0, 3)), Table: nicspec.Table(g.intN(8)),
		Index: pick(g, 0, g.intN(64), 63, 64, 255, 256, 0xffff, g.intN(g.Sizes.NumKeys)),
	}
	if g.maybe(3) {
		t.Table = nicspec.Table(pick(g, 255, g.intN(256)))
	}
	if t.Op != uint8(nicspec.TableOpWrite) {
		return t
	}
	for range nicspec.TableWords {
		t.Words = append(t.Words, g.rng.Uint32()&pick(g, ^uint32(0), 0, 1, 0xff))
	}
	switch t.Table {
	case nicspec.TableRxq, nicspec.TableTxq:
		g.queueWords(t)
	case nicspec.TableAccount:
		t.Words = t.Words[:4]
		for slices.Contains(g.accounts[:], t.Index) { // choose an account that no rule uses
			t.Index = g.intN(nicspec.NumAccounts)
		}
	case nicspec.TablePortCfg:
		t.Words = t.Words[:4]
	case nicspec.TableKey, nicspec.TableRule:
		t.Index |= 0x8000 // out of range: only the operations Key and Rule change keys and rules in force
		if g.maybe(60) {
			t.Index, t.Words[0] = 100, t.Words[0]|0xfe
			if t.Table == nicspec.TableRule {
				t.Index, t.Words[28] = 9, 7
			}
		}
	}
	return t
}

// queueWords draws an entry for a queue table that enables no queue: the queue is enabled already, or the entry is
// invalid.
func (g *generator) queueWords(t *program.Table) {
	if g.maybe(40) {
		t.Index = pick(g, g.rx...)
		if t.Table == nicspec.TableTxq {
			t.Index = pick(g, g.tx...)
		}
	}
	t.Words[0] = pick(g, uint32(2), 255, 0x0103_0002, 1, 0x0002_0001)
	if t.Words[0]&0xff == 1 && g.maybe(50) { // everything stays valid except one field of an optional part
		t.Words = []uint32{0x0002_0001, 0, 64, 0, 1 << 12, 0, 1 << 13, 0, 1 << 14}
	}
}

// disabled disables a queue with arbitrary values in the fields that are then ignored, and reads them back [Q5] [G6].
func (g *generator) disabled() program.Op {
	t := &program.Table{Op: uint8(nicspec.TableOpWrite), Table: nicspec.TableRxq, Index: g.queue(g.Sizes.NumRxq)}
	if g.maybe(50) {
		t.Table, t.Index = nicspec.TableTxq, g.queue(g.Sizes.NumTxq)
	}
	for range 1 + g.intN(3) {
		w := *t
		for range nicspec.RxqEntrySize / 4 {
			w.Words = append(w.Words, g.rng.Uint32())
		}
		w.Words[0] &^= 0xff
		g.add(program.Op{Table: &w, Wait: g.wait()})
	}
	return program.Op{Table: &program.Table{Op: uint8(nicspec.TableOpRead), Table: t.Table, Index: t.Index}}
}

// register draws a read from any address of BAR0, or a write to a register for which there is no other operation.
func (g *generator) register() program.Op {
	r := &nicspec.Registers[g.intN(len(nicspec.Registers))]
	if g.maybe(60) {
		off := r.Offset + uint32(g.intN(max(1, r.Count))*r.Stride)
		if g.maybe(10) {
			off = uint32(g.intN(nicspec.BarBytes/8)) * 8
		}
		wide := g.maybe(40)
		if wide {
			off &^= 7
		}
		return program.Op{Read: &program.Read{Off: off, Wide: wide}}
	}
	w := &program.Write{Reg: r.Name, Index: g.intN(max(1, r.Count)), Value: g.rng.Uint32()}
	switch r.Name {
	case "RX_DOORBELL", "TX_DOORBELL", "TX_PUSH", "TBL_CMD", "CTRL", "CPL_TIMEOUT", "RX_DEFAULT", "DEVCTL":
		w.Reg, w.Index = "SCRATCH", 0
	}
	return program.Op{Write: w}
}

// fault draws a fault that makes some reads of the NIC fail.
func (g *generator) fault() *program.Fault {
	f := &program.Fault{Kind: inject.FaultKind(g.intN(inject.NumFaults)).String(),
		Of:    pick(g, program.OfRxRing, program.OfTxRing, program.OfMemory, program.OfMemory),
		Place: placeOf(g.intN(program.Regions)),
		Skip:  g.intN(4), Count: 1 + g.intN(2), Nth: g.intN(3)}
	if f.Of == program.OfMemory && (g.reusedMemory || g.sharedBuffers) {
		f.Of = pick(g, program.OfRxRing, program.OfTxRing)
	}
	f.Queue = pick(g, g.rx...)
	if f.Of == program.OfTxRing {
		f.Queue = pick(g, g.tx...)
	}
	if g.maybe(40) {
		f.Delay = pick(g, g.intN(600), g.intN(600), g.intN(2500))
	}
	if f.Nth > 0 && g.maybe(40) {
		f.Gap = g.intN(3500)
	}
	return f
}
