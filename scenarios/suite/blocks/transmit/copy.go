package transmit

import (
	"math/rand/v2"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

const (
	copyMRRS   = 512
	copyBuffer = 32 << 10
)

// copyEntries is a request: copies that are processed together. Each uses an address range of its own (kit.Places).
type copyEntries struct {
	Mps         uint16
	Attr, Count uint8
	_           [4]uint8
	Entries     [kit.Places]copyEntry
}

type copyEntry struct {
	Queue, Copies, Invalidates, Fault, Late, Delay uint8
	Fence, _                                       uint8
	Length                                         uint32
	_                                              [4]uint8
	Src, Dst                                       uint64
}

// copyEnds is a result: how each entry ended, and what it wrote.
type copyEnds struct {
	Writes     kit.WritesFault
	Miscounted uint8
	_          [6]uint8
	Ends       [kit.Places]copyEnd
}

type copyEnd struct {
	Status              nicspec.Status
	Ends, Queue, Behind uint8
	Order               copyOrder
	Attr, Messages      uint8
	_                   uint8
	Lines, Written      uint32
	Line, Dst           uint64
}

// copyReport is the last beat of a result.
type copyReport struct {
	Mps   uint16
	_     [2]uint8
	Bytes uint32
	Ends  [kit.Places]struct {
		Status            nicspec.Status
		Ends, Queue, Turn uint8
		Beats             uint16 // number of beats that had left when the entry ended
		Src, Fence        uint8  // low bits of the source's address, and whether the entry is fenced
	}
}

// copyOrder says which rule an entry broke: about the order of its writes and its end, or about writing lines whole.
type copyOrder uint8

const (
	copyInOrder copyOrder = iota
	copyEarly
	copyMessageFirst
	copyOvertakes // a fenced entry wrote before the last write of an earlier entry [D10]
	copyTornLine  // a whole line left in several writes [D2]
)

func (c copyOrder) String() string {
	return [...]string{"in order", "it ended before its last write", "the message left before the last write",
		"a fence was overtaken",
		"a whole line was torn"}[c%5]
}

var CopyEngine = &kit.Block{
	Name: "copy", RTL: "copy/nic_copy.sv", Go: "models/nic/copy.go",
	Ops: []kit.Op{{Name: "entries", Request: kit.NewRecord[copyEntries](),
		Result: kit.NewRecord[copyEnds]().WithTail("data")}},
	Stimulus: copyStimulus, Reference: copyReference, Settle: copySettle,
}

// copyStimulus posts entries of few queues, mostly short ones, of any alignment; some reads fail.
func copyStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for range n {
		r := copyEntries{Count: uint8(1 + rng.IntN(kit.Places))}
		r.Mps, r.Attr = kit.Pick[uint16](rng, 128, 256, 512), uint8(rng.IntN(4))
		for i := range r.Count {
			r.Entries[i] = anyCopy(rng, uint64(i), r.Count == 1 && kit.Maybe(rng, 15))
		}
		list = append(list, kit.Packet{Data: kit.Encode(r)})
	}
	return list
}

// anyCopy draws an entry whose addresses lie in one of the four address ranges.
func anyCopy(rng *rand.Rand, place uint64, long bool) (e copyEntry) {
	address := func() uint64 {
		addr := kit.Pick(rng, 0, uint64(rng.Uint32()))<<32 | place<<kit.PlaceBit | uint64(rng.Uint32N(1<<29))
		if kit.Maybe(rng, 40) {
			addr = addr&^(tlp.PageBytes-1) | uint64(tlp.PageBytes-1-rng.IntN(200))
		}
		return addr
	}
	size := 1 + kit.Pick(rng, rng.IntN(8), rng.IntN(300), rng.IntN(3000))
	if long { // longer than a channel's buffer, and near the wrap of its line counters
		size = kit.Pick(rng, size+copyBuffer+rng.IntN(copyBuffer),
			2*copyBuffer*(1+rng.IntN(3))+kit.Pick(rng, -nicspec.LineBytes, 0, nicspec.LineBytes,
				rng.IntN(nicspec.LineBytes)))
	}
	e.Queue, e.Copies, e.Delay = uint8(rng.IntN(2*nicspec.CopyChannels)), kit.Flag(kit.Maybe(rng, 80)),
		uint8(kit.Pick(rng, 0, 0, rng.IntN(100)))
	e.Invalidates = kit.Flag(e.Copies == 0 || kit.Maybe(rng, 30))
	e.Src, e.Dst, e.Fence = address(), address(), kit.Flag(kit.Maybe(rng, 40))
	if long && kit.Maybe(rng, 50) { // copy whole lines
		e.Src, e.Dst = e.Src&^(nicspec.LineBytes-1), e.Dst&^(nicspec.LineBytes-1)
	}
	if kit.Maybe(rng, 50) { // source and destination have the same offset within a line
		e.Dst = e.Dst&^(nicspec.LineBytes-1) | e.Src%nicspec.LineBytes
	}
	if e.Invalidates != 0 {
		size, e.Src = max(nicspec.LineBytes, size&^(nicspec.LineBytes-1)), e.Src&^(nicspec.LineBytes-1)
	}
	if e.Copies != 0 && kit.Maybe(rng, 12) {
		e.Fault, e.Late = uint8(1+rng.IntN(faultKinds-1)), kit.Flag(kit.Maybe(rng, 50))
	}
	e.Length = uint32(size)
	return e
}

// copyReference gives each entry a copy channel of its own, since no entry's result depends on another entry.
func copyReference() func(kit.Packet) []kit.Packet {
	s := readerState{Reader: core.NewReader(256), mrrs: copyMRRS}
	return func(req kit.Packet) []kit.Packet {
		var r copyEnds
		var written []byte
		q := kit.Decode[copyEntries](req.Data)
		for i := range q.Count {
			e, x := &q.Entries[i], &r.Ends[i]
			for k := range i {
				x.Behind += kit.Flag(q.Entries[k].Queue%nicspec.CopyChannels == e.Queue%nicspec.CopyChannels)
			}
			x.Ends, x.Queue = 1, e.Queue
			data := s.carryOut(e, x, int(q.Mps))
			if len(data) > 0 {
				x.Attr, x.Dst = q.Attr, e.Dst
			}
			x.Written = uint32(len(data))
			written = append(written, data...)
		}
		return []kit.Packet{{Data: append(kit.Encode(r), written...)}}
	}
}

// carryOut runs an entry in the Go engine. It fills in status and message, and returns the bytes written, or none if
// the entry failed: any number of bytes may be written then.
func (s *readerState) carryOut(e *copyEntry, x *copyEnd, mps int) (data []byte) {
	plan := dma.Plan{Src: e.Src, Dst: e.Dst}
	if e.Copies != 0 {
		plan.Len = int(e.Length)
	}
	if e.Invalidates != 0 {
		plan.Line, plan.Lines = plan.Src, e.Length/nicspec.LineBytes
	}
	c := dma.NewChannel(1, 1)
	c.Start(0, &plan)
	for {
		if k, addr, dst, ok := c.NextRead(); ok {
			var rd core.Read
			rd.Begin(addr, dst)
			s.read(&rd, e.Fault, e.Late != 0)
			c.ReadEnded(k, rd.Status)
		}
		if _, b, ok := c.Write(mps); ok {
			data = append(data, b...)
			c.WriteLeft(len(b))
		}
		if m := c.Message(); m != nil {
			x.Messages++
			x.Line, x.Lines = m.Line, m.Lines
			c.MessageLeft()
		}
		if _, status, ok := c.Ended(); ok {
			if x.Status = status; status != nicspec.StatusOk {
				data = nil
			}
			return data
		}
	}
}

// copySettle reassembles the writes of a result, and separates the messages and ends of the entries.
func copySettle(data []byte) []byte {
	var r copyEnds
	var written []byte
	w, last := kit.Gather(data, func(b []byte) int { return int(kit.Decode[copyReport](b).Mps) })
	report := kit.Decode[copyReport](last)
	total := uint32(0)
	for i := range w.Places {
		x, ended, p := &r.Ends[i], &report.Ends[i], &w.Places[i]
		total += uint32(len(p.Bytes))
		x.Status, x.Ends, x.Queue = ended.Status, ended.Ends, ended.Queue
		for k := range report.Ends {
			o := &report.Ends[k]
			same := o.Queue%nicspec.CopyChannels == x.Queue%nicspec.CopyChannels
			x.Behind += kit.Flag(x.Ends != 0 && o.Ends != 0 && same && o.Turn < ended.Turn)
		}
		copyMessages(&w, i, x)
		switch {
		case p.Last > int(ended.Beats):
			x.Order = copyEarly
		case ended.Fence != 0 && overtakes(&w, i, &report):
			x.Order = copyOvertakes
		case p.Addr%nicspec.LineBytes == uint64(ended.Src)%nicspec.LineBytes && x.Status == nicspec.StatusOk && torn(p):
			x.Order = copyTornLine
		}
		if x.Status == nicspec.StatusOk && len(p.Bytes) > 0 {
			x.Attr, x.Written, x.Dst = uint8(p.Attr), uint32(len(p.Bytes)), p.Addr
			written = append(written, p.Bytes...)
		}
	}
	r.Writes, r.Miscounted = w.Fault, kit.Flag(total != report.Bytes)
	return append(kit.Encode(r), written...)
}

// overtakes reports whether an entry, identified by its address range, wrote before an earlier entry of its queue had
// written everything, its message included.
func overtakes(w *kit.Written, place int, report *copyReport) bool {
	p := &w.Places[place]
	for k := range place {
		last := w.Places[k].Last
		for _, m := range w.Others {
			if len(m.Data) == nicspec.InvalidateMsgSize &&
				int(nicspec.DecodeInvalidateMsg(m.Data).Addr>>kit.PlaceBit%kit.Places) == k {
				last = max(last, m.At)
			}
		}
		if report.Ends[k].Queue == report.Ends[place].Queue && p.First > 0 && p.First < last {
			return true
		}
	}
	return false
}

// torn reports whether a line that was written completely was written by more than one TLP.
func torn(p *kit.Placed) bool {
	end := p.Addr + uint64(len(p.Bytes))
	for _, r := range p.Runs {
		from, to := r.Addr, r.Addr+uint64(len(r.Bytes))
		first, last := from&^(nicspec.LineBytes-1), (to-1)&^(nicspec.LineBytes-1)
		if from > first && first >= p.Addr || to < last+nicspec.LineBytes && last+nicspec.LineBytes <= end {
			return true
		}
	}
	return false
}

// copyMessages fills in the invalidate messages of the entry whose address range is `place`.
func copyMessages(w *kit.Written, place int, x *copyEnd) {
	for _, m := range w.Others {
		if len(m.Data) != nicspec.InvalidateMsgSize {
			w.Wrong(kit.WritesKind)
			continue
		}
		f := nicspec.DecodeInvalidateMsg(m.Data)
		if int(f.Addr>>kit.PlaceBit%kit.Places) != place {
			continue
		}
		var p tlp.Packet
		if err := dma.SetMessage(&p, &dma.Plan{Line: f.Addr, Lines: f.Lines}); err != nil || p.Hdr != m.Hdr {
			w.Wrong(kit.WritesKind)
		}
		if x.Messages++; m.At < w.Places[place].Last {
			x.Order = copyMessageFirst
		}
		x.Line, x.Lines = f.Addr, f.Lines
	}
}
