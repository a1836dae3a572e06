package transmit

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block txq.
const (
	txqTable = iota
	txqRing
	txqNone  = kit.Places // stands for no address range
	txqAfter = 1 << 7
)

// txqDoorbells is a request. It rings the doorbell of up to one queue for each of the four address ranges (kit.Places),
// in which the queue's rings lie, and then one of these doorbells again for one more block. Then it may disable and
// enable one of the queues. Memory contains entries whose bytes encode their number of blocks and how they end.
type txqDoorbells struct {
	Op, Short, Rung, Pushed, Pace, Faulty, Fault uint8
	Cut                                          uint8 // address range of the queue to be disabled
	Queue, Pi                                    [kit.Places]uint16
	Wqe                                          [nicspec.WqeBytes]uint8 // contents of the pushed block
	// the entry that enables the disabled queue again
	Again [nicspec.TxqEntrySize]uint8 `entry:"TxqEntry"`
	// time of the disable: cycles after the last doorbell or, with txqAfter, bytes of entries before it
	When uint8
	_    uint8
	From uint16 // consumer index of the disabled queue
	_    [4]uint8
}

// txqResult is a result, sorted by address range: the contract leaves open in which order queues are served and how
// many entries a read fetches.
type txqResult struct {
	Op, DbBad, QueueErrs uint8
	Writes               kit.WritesFault
	CutStatus            nicspec.TableStatus
	Cut                  txqCut
	Entries, Completions [kit.Places]uint16 // how many of each there are, by queue; 0: disabled
}

// txqItem is a block of an entry that was passed on or, if it has an address, a completion entry.
type txqItem struct {
	Queue, Ecn, Event uint8
	Status            nicspec.Status
	Index             uint16
	_                 [2]uint8
	Addr              uint64
	Bytes             [nicspec.WqeBytes]uint8
}

// Txq plays the path of transmit queues: from doorbells to the entries that they pass on, in order, and from the ends
// of entries to completion entries. An entry of several blocks waits until it is complete. The build has no copies,
// whose order has rules of its own.
var Txq = &kit.Block{
	Name: "txq", RTL: "workqueues/nic_txq.sv", Go: "models/nic/txq.go",
	Ops: []kit.Op{
		txqTable: kit.TableOp(&nicspec.TxqEntryInfo),
		txqRing: {
			Name: "doorbells", Request: kit.NewRecord[txqDoorbells](),
			Result: kit.NewRecord[txqResult]().WithList("items", kit.NewRecord[txqItem]()),
		},
	},
	Stimulus: txqStimulus, Settle: txqSettle,
	Reference: func() func(kit.Packet) []kit.Packet { return newTxqState().answer },
}

// txqStimulus uses three queues for each address range, which are enabled, work, fail and are disabled.
func txqStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	s := newTxqState()
	for range n {
		var p kit.Packet
		if kit.Maybe(rng, 30) {
			place := rng.IntN(kit.Places)
			p = txqCommand(rng, txqQueue(rng, place), uint64(place))
		} else {
			p = s.doorbells(rng)
		}
		s.answer(p)
		list = append(list, p)
	}
	return list
}

func txqQueue(rng *rand.Rand, place int) int { return place + kit.Places*rng.IntN(3) }

// txqCommand returns a table command for a queue whose rings lie in the given address range.
func txqCommand(rng *rand.Rand, queue int, place uint64) kit.Packet {
	if kit.Maybe(rng, 20) {
		return kit.TableRequest(txqTable, nicspec.TableTxq, queue, nil)
	}
	f := nicspec.TxqEntryFields{
		Enable: kit.Flag(kit.Maybe(rng, 65)), LogSize: uint8(2 + rng.IntN(5)), RingBase: txqRingAt(rng, place),
		CqBase: txqRingAt(rng, place), EcnMode: uint8(rng.IntN(4)),
		PfcClass: uint8(rng.IntN(core.PauseClasses)), MsixAddr: rng.Uint64() &^ 3, MsixData: rng.Uint32(),
		// fields that a write ignores
		State: nicspec.QueueState(rng.IntN(3)), Pi: uint16(rng.Uint32()), Ci: uint16(rng.Uint32()),
		Cqi: uint16(rng.Uint32()),
	}
	switch rng.IntN(24) {
	case 0:
		f.Enable = uint8(2 + rng.IntN(200))
	case 1:
		f.LogSize = uint8(kit.Pick(rng, 0, 1, 16+rng.IntN(200)))
	case 2:
		f.RingBase |= 1 << rng.IntN(6)
	case 3:
		f.CqBase |= 1 << rng.IntN(6)
	case 4:
		f.EcnMode = uint8(4 + rng.IntN(200))
	case 5:
		f.MsixAddr |= uint64(1 + rng.IntN(3))
	case 6:
		f.PfcClass = uint8(core.PauseClasses + rng.IntN(200))
	}
	e := make([]byte, nicspec.TxqEntrySize)
	f.Encode(e)
	return kit.TableRequest(txqTable, nicspec.TableTxq, queue, e)
}

// txqState holds the queues and the read side of a NIC.
type txqState struct {
	*core.Regs
	parts nicspec.Cap1Reg
	reads readerState
}

func newTxqState() *txqState {
	spec := nicspec.DefaultBuild()
	spec.Parts &^= nicspec.PartCopy
	return &txqState{core.NewRegs(spec), spec.Parts, readerState{Reader: core.NewReader(256), mrrs: 512}}
}

// doorbells returns doorbells that queues accept, with some exceptions. A single entry may be pushed, and the first
// read in an address range may fail.
func (s *txqState) doorbells(rng *rand.Rand) kit.Packet {
	d := txqDoorbells{Op: txqRing, Short: kit.Flag(kit.Maybe(rng, 75)), Pushed: txqNone,
		Pace: kit.Pick[uint8](rng, 0, 0, 1, 3, 7)}
	for i := range d.Queue {
		id := txqQueue(rng, i)
		if kit.Maybe(rng, 60) { // a running queue, if there is one
			for k := 0; s.Txq(id).State != nicspec.QueueStateRun && k < 3; k++ {
				id = i + kit.Places*k
			}
		}
		s.post(rng, &d, i, id)
	}
	if d.Cut = txqNone; kit.Maybe(rng, 75) {
		s.cut(rng, &d)
	}
	return kit.Packet{Data: kit.Encode(d)}
}

// post fills in the doorbells of queue `id`, whose rings lie in address range `place`.
func (s *txqState) post(rng *rand.Rand, d *txqDoorbells, place, id int) {
	q := s.Txq(id)
	waits := int(q.PI - q.CI) // blocks of an entry whose other blocks are not posted yet
	posted, rings := rng.IntN(min(int(q.Size()), 12)+1), kit.Maybe(rng, 80)
	switch {
	case kit.Maybe(rng, 5):
		posted = kit.Pick(rng, -1, int(q.Size()), int(q.Size())+1, rng.IntN(1<<16))
	case d.Pushed == txqNone && kit.Maybe(rng, 20):
		d.Pushed = uint8(place)
		posted = min(posted*rng.IntN(2), max(0, int(q.Size())-1-waits)) // the block may or may not have room yet
		rings = posted > 0
		txqEntryAt(q.WqeAddr(q.PI+uint16(posted)), &d.Wqe)
	// the RTL also fetches more of the ring behind the read that fails
	case d.Fault == faultNone && kit.Maybe(rng, 8):
		rings, posted, d.Faulty, d.Fault = true, 1+rng.IntN(min(max(1, int(q.Size())-waits), 40)), uint8(place),
			uint8(1+rng.IntN(faultKinds-1))
	}
	if d.Queue[place], d.Pi[place] = uint16(id), q.PI+uint16(posted); kit.Maybe(rng, 2) {
		d.Queue[place] = uint16(nicspec.DefaultBuild().NumTxq + id) // a queue that does not exist
	}
	d.Rung |= kit.Flag(rings) << place
}

// txqRingAt returns an address for a ring in an address range.
func txqRingAt(rng *rand.Rand, place uint64) uint64 {
	const align = 63
	return uint64(rng.Uint32())<<32 | place<<kit.PlaceBit | uint64(rng.Uint32N(1<<29))&^align
}

// txqEntryAt fills in the memory content at the address of an entry.
func txqEntryAt(addr uint64, b *[nicspec.WqeBytes]uint8) {
	for i := range b {
		b[i] = readerByte(addr + uint64(i))
	}
}

func (s *txqState) answer(req kit.Packet) []kit.Packet {
	if req.Data[0] == txqTable {
		res := kit.TableAnswer(s.Regs, req)
		s.Drained()
		return []kit.Packet{res}
	}
	d := kit.Decode[txqDoorbells](req.Data)
	r := txqResult{Op: txqRing}
	var items []byte
	for i := range d.Queue {
		id := int(d.Queue[i])
		from := uint16(0)
		if q := s.Txq(id); q != nil {
			from = q.PI
		}
		ring := func(pi uint16) {
			r.DbBad += kit.Flag(s.Write32(nicspec.RegTxDoorbell(id), uint32(pi)).Kind != core.EffectDoorbell)
		}
		if d.Rung>>i&1 != 0 {
			ring(d.Pi[i])
		}
		if int(d.Pushed) == i {
			ring(d.Pi[i] + 1)
		}
		fault := uint8(faultNone)
		if int(d.Faulty) == i {
			fault = d.Fault
		}
		entries, completions := s.work(id, from, fault, &r)
		if int(d.Cut) == i {
			s.restart(id, d.Again[:])
			continue
		}
		r.Entries[i], r.Completions[i] = uint16(len(entries)), uint16(len(completions))
		for _, x := range append(entries, completions...) {
			items = append(items, kit.Encode(x)...)
		}
	}
	return []kit.Packet{{Data: append(kit.Encode(r), items...)}}
}

// work returns what a queue passes on: its complete entries. With a fault, the read whose first block has index `from`
// fails.
func (s *txqState) work(id int, from uint16, fault uint8, r *txqResult) (entries, completions []txqItem) {
	q := s.Txq(id)
	for q != nil && q.CI != q.PI && q.State == nicspec.QueueStateRun {
		blocks := s.entry(q, id)
		if n := int(q.PI - from); fault != faultNone && n > 0 && int(q.PI-q.CI)-len(blocks) < n {
			e, c := s.failed(q, id, from, fault)
			r.QueueErrs++
			return append(entries, e), append(completions, c)
		}
		if int(q.PI-q.CI) < len(blocks) {
			break // incomplete: it waits for its other blocks
		}
		entries = append(entries, blocks...)
		w := nicspec.Wqe(blocks[0].Bytes[:])
		if status, sent := txqEnd(w); status != nicspec.StatusOk || w.FComplete() {
			c := txqItem{Addr: q.CqeAddr(q.CQI)}
			core.BuildTxCqe(uint16(id), q.CI, status, w.WqeId(), sent, q.Phase(q.CQI), &c.Bytes)
			completions = append(completions, c)
			q.CQI++
		}
		q.CI += uint16(len(blocks))
	}
	return entries, completions
}

// entry returns the blocks of the entry at the consumer index, posted or not.
func (s *txqState) entry(q *core.Queue, id int) (blocks []txqItem) {
	for n := 1; len(blocks) < n; {
		b := txqItem{Queue: uint8(id), Ecn: q.EcnMode, Index: q.CI + uint16(len(blocks))}
		txqEntryAt(q.WqeAddr(b.Index), &b.Bytes)
		if blocks = append(blocks, b); len(blocks) == 1 {
			n = core.WqeBlocks(b.Bytes[:], s.parts)
		}
	}
	return blocks
}

// failed returns the Event of a ring read that fails, and its completion entry [T2].
func (s *txqState) failed(q *core.Queue, id int, index uint16, fault uint8) (e, c txqItem) {
	var rd core.Read
	var b [nicspec.WqeBytes]uint8
	rd.Begin(q.WqeAddr(index), b[:])
	s.reads.read(&rd, fault, false)
	e = txqItem{Queue: uint8(id), Ecn: q.EcnMode, Index: index, Event: 1, Status: rd.Status}
	c = txqItem{Addr: q.CqeAddr(q.CQI)}
	core.BuildEvent(uint16(id), index, rd.Status, q.Phase(q.CQI), &c.Bytes)
	q.Fail(rd.Status)
	q.CQI++
	return e, c
}

// txqEnd returns the status with which the wrapper ends an entry, and the length of its frame.
func txqEnd(w nicspec.Wqe) (nicspec.Status, int) {
	if w[16]&7 == 0 {
		return nicspec.StatusBadKey, 0
	}
	return nicspec.StatusOk, nicspec.FrameMin + int(w[17])
}

// txqReport is the block's report of an entry.
type txqReport struct {
	Queue, Ecn, Event uint8
	Status            nicspec.Status
	Index             uint16
	Bytes             [nicspec.WqeBytes]uint8
}

// txqSettle turns the block's output into a result, sorted by address range: for each range its work entries, then its
// completion entries.
func txqSettle(data []byte) []byte {
	last := len(data) - kit.WriteBeat
	if last < 0 || len(data)%kit.WriteBeat != 0 || data[last] == txqTable {
		return data[:min(len(data), 8+kit.TableBytes)]
	}
	var w txqWritten
	var entries [kit.Places][]txqItem
	var writes []byte
	for b := range slices.Chunk(data[:last], kit.WriteBeat) {
		if kit.LittleEndian.Uint32(b[kit.WriteKeep:]) != 0 || b[kit.WriteLast] != 0 {
			writes = append(writes, b...)
			continue
		}
		t := kit.Decode[txqReport](b)
		e := txqItem{Queue: t.Queue, Ecn: t.Ecn, Event: t.Event, Status: t.Status, Index: t.Index, Bytes: t.Bytes}
		entries[t.Queue%kit.Places] = append(entries[t.Queue%kit.Places], e)
	}
	kit.TLPs(writes, 128, w.Wrong, w.add)
	r := txqResult{Op: data[last], DbBad: data[last+1], QueueErrs: data[last+2], Writes: w.Fault,
		CutStatus: nicspec.TableStatus(data[last+4])}
	if cut := data[last+3]; cut < kit.Places {
		r.Cut = txqCutOff(kit.LittleEndian.Uint16(data[last+5:]), entries[cut], w.entries[cut])
		entries[cut], w.entries[cut] = nil, nil
	}
	var items []byte
	for i := range kit.Places {
		r.Entries[i], r.Completions[i] = uint16(len(entries[i])), uint16(len(w.entries[i]))
		for _, x := range append(entries[i], w.entries[i]...) {
			items = append(items, kit.Encode(x)...)
		}
	}
	return append(kit.Encode(r), items...)
}

// txqWritten holds completion entries in the order in which they left.
type txqWritten struct {
	kit.Written
	entries [kit.Places][]txqItem
}

func (w *txqWritten) add(p kit.Other, entry bool) {
	h := tlp.Parse(&p.Hdr)
	if h.Kind != tlp.MWr || !entry || len(p.Data) != nicspec.CqeBytes {
		w.Wrong(kit.WritesKind)
		return
	}
	at := &w.entries[h.Address>>kit.PlaceBit%kit.Places]
	*at = append(*at, txqItem{Addr: h.Address, Bytes: [nicspec.CqeBytes]uint8(p.Data)})
}
