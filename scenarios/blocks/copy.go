package blocks

import (
	"fmt"
	"math/rand/v2"

	"nictwin/models/dma"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// A request of copyEngine is entries that are at work together, as many as there are places.
const (
	copyHead   = 8  // bytes of a request and of a result before the first entry
	copyEntry  = 32 // bytes of an entry in each
	copyMRRS   = 512
	copyTold   = 6 // bytes of an entry in the last beat
	copyBuffer = 32 << 10
)

// How an entry ended too soon.
const (
	copyInOrder = iota
	copyEarly
	copyMessageFirst
)

var copyEngine = &Block{
	Name: "copy", RTL: "nic_copy.sv", Go: "comp_copy.go",
	Ops:      []Op{{Name: "entries", Request: copyRequest(), Result: copyResultLayout().withTail("data")}},
	Stimulus: copyStimulus, Reference: copyReference, Settle: copySettle,
}

func copyRequest() *Layout {
	parts := []part{num("mps", 2), num("attr", 1), num("count", 1), gap(4)}
	for i := range places {
		n := func(name string, bytes int) part { return num(fmt.Sprintf("%s_%d", name, i), bytes) }
		parts = append(parts, n("queue", 1), n("copies", 1), n("invalidates", 1), n("fault", 1), n("late", 1), n("delay", 1), gap(2),
			n("length", 4), gap(4), n("src", 8), n("dst", 8))
	}
	return layout(parts...)
}

func copyResultLayout() *Layout {
	parts := []part{code("writes", writesName), num("miscounted", 1), gap(copyHead - 2)}
	for i := range places {
		n := func(name string, bytes int) part { return num(fmt.Sprintf("%s_%d", name, i), bytes) }
		parts = append(parts, code(fmt.Sprintf("status_%d", i), statusName), n("ends", 1), n("queue", 1), n("behind", 1), n("order", 1),
			n("attr", 1), n("messages", 1), gap(1), n("lines", 4), n("written", 4), n("line", 8), n("dst", 8))
	}
	return layout(parts...)
}

// copyStimulus is entries of few queues, short ones mostly, any alignment, a read that fails here and there.
func copyStimulus(rng *rand.Rand, n int) (list []Packet) {
	for range n {
		count := 1 + rng.IntN(places)
		b := make([]byte, copyHead+copyEntry*places)
		le.PutUint16(b, pick[uint16](rng, 128, 256, 512))
		b[2], b[3] = uint8(rng.IntN(4)), uint8(count)
		for i := range count {
			copyEntryRequest(rng, b[copyHead+copyEntry*i:], uint64(i), count == 1 && maybe(rng, 10))
		}
		list = append(list, Packet{Data: b})
	}
	return list
}

func copyEntryRequest(rng *rand.Rand, e []byte, place uint64, long bool) {
	address := func() uint64 {
		addr := pick(rng, 0, uint64(rng.Uint32()))<<32 | place<<placeBit | uint64(rng.Uint32N(1<<29))
		if maybe(rng, 40) {
			addr = addr&^(tlp.PageBytes-1) | uint64(tlp.PageBytes-1-rng.IntN(200))
		}
		return addr
	}
	size := 1 + pick(rng, rng.IntN(8), rng.IntN(300), rng.IntN(3000))
	if long { // more than a channel's buffer
		size += copyBuffer + rng.IntN(copyBuffer)
	}
	e[0], e[1], e[5] = uint8(rng.IntN(2*nicspec.CopyChannels)), flag(maybe(rng, 80)), uint8(pick(rng, 0, 0, rng.IntN(100)))
	e[2] = flag(e[1] == 0 || maybe(rng, 30))
	src, dst := address(), address()
	if e[2] != 0 {
		size, src = max(nicspec.LineBytes, size&^(nicspec.LineBytes-1)), src&^(nicspec.LineBytes-1)
	}
	if e[1] != 0 && maybe(rng, 12) {
		e[3], e[4] = uint8(1+rng.IntN(faultKinds-1)), flag(maybe(rng, 50))
	}
	le.PutUint32(e[8:], uint32(size))
	le.PutUint64(e[16:], src)
	le.PutUint64(e[24:], dst)
}

// copyReference has a channel to itself for each entry: what one entry does depends on no other.
func copyReference() func(Packet) []Packet {
	s := readerState{Reader: nic.NewReader(256), mrrs: copyMRRS}
	return func(req Packet) []Packet {
		b := req.Data
		r := make([]byte, copyHead+copyEntry*places)
		for i := range int(b[3]) {
			at := copyHead + copyEntry*i
			e, x := b[at:][:copyEntry], r[at:][:copyEntry]
			for k := range i {
				x[3] += flag(b[copyHead+copyEntry*k]%nicspec.CopyChannels == e[0]%nicspec.CopyChannels)
			}
			x[1], x[2] = 1, e[0]
			data := s.carryOut(e, x, int(le.Uint16(b)))
			if len(data) > 0 {
				x[5] = b[2]
				copy(x[24:], e[24:])
			}
			le.PutUint32(x[12:], uint32(len(data)))
			r = append(r, data...)
		}
		return []Packet{{Data: r}}
	}
}

// carryOut has the Go engine do an entry e. It fills in how it ended and its message, and returns the bytes written, none
// if it failed: how many there are then is free.
func (s *readerState) carryOut(e, x []byte, mps int) (data []byte) {
	plan := dma.Plan{Src: le.Uint64(e[16:]), Dst: le.Uint64(e[24:])}
	if n := le.Uint32(e[8:]); e[1] != 0 {
		plan.Len = int(n)
	}
	if e[2] != 0 {
		plan.Line, plan.Lines = plan.Src, le.Uint32(e[8:])/nicspec.LineBytes
	}
	c := dma.NewChannel(1, 1)
	c.Start(0, &plan)
	for {
		if k, addr, dst, ok := c.Ask(); ok {
			var rd nic.Read
			rd.Begin(addr, dst)
			s.read(&rd, e[3], e[4] != 0)
			c.Came(k, rd.Status)
		}
		if _, b, ok := c.Write(mps); ok {
			data = append(data, b...)
			c.WriteLeft(len(b))
		}
		if m := c.Message(); m != nil {
			x[6]++
			le.PutUint32(x[8:], m.Lines)
			le.PutUint64(x[16:], m.Line)
			c.MessageLeft()
		}
		if _, status, ok := c.Ended(); ok {
			if x[0] = uint8(status); status != nicspec.StatusOk {
				data = nil
			}
			return data
		}
	}
}

// copySettle puts together what was written, and takes the entries' messages and ends apart.
func copySettle(data []byte) []byte {
	w, told := gather(data, func(told []byte) int { return int(le.Uint16(told)) })
	r := make([]byte, copyHead+copyEntry*places)
	total := 0
	for i := range w.places {
		x, ended := r[copyHead+copyEntry*i:][:copyEntry], told[copyHead+copyTold*i:][:copyTold]
		p := &w.places[i]
		total += len(p.bytes)
		copy(x[:3], ended[:3])
		for k := range places {
			other := told[copyHead+copyTold*k:]
			x[3] += flag(x[1] != 0 && other[1] != 0 && other[2]%nicspec.CopyChannels == x[2]%nicspec.CopyChannels && other[3] < ended[3])
		}
		copyMessages(&w, i, x)
		if p.last > int(le.Uint16(ended[4:])) {
			x[4] = copyEarly
		}
		if x[0] == uint8(nicspec.StatusOk) && len(p.bytes) > 0 {
			x[5] = uint8(p.attr)
			le.PutUint32(x[12:], uint32(len(p.bytes)))
			le.PutUint64(x[24:], p.addr)
			r = append(r, p.bytes...)
		}
	}
	r[0], r[1] = w.fault, flag(uint32(total) != le.Uint32(told[4:]))
	return r
}

// copyMessages fills in the messages of the entry of a place.
func copyMessages(w *written, place int, x []byte) {
	for _, m := range w.others {
		if len(m.Data) != nicspec.InvalidateMsgSize {
			w.wrong(writesKind)
			continue
		}
		f := nicspec.DecodeInvalidateMsg(m.Data)
		if int(f.Addr>>placeBit%places) != place {
			continue
		}
		var p tlp.Packet
		if err := dma.SetMessage(&p, &dma.Plan{Line: f.Addr, Lines: f.Lines}); err != nil || p.Hdr != m.Hdr {
			w.wrong(writesKind)
		}
		if x[6]++; m.at < w.places[place].last {
			x[4] = copyMessageFirst
		}
		le.PutUint32(x[8:], f.Lines)
		le.PutUint64(x[16:], f.Addr)
	}
}
