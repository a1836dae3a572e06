package generate

import (
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/traffic/craft"
)

// send draws a batch of work entries.
func (g *generator) send(q int) *program.Send {
	s := &program.Send{Queue: q, Hold: g.maybe(6)}
	if g.maybe(20) || g.pushy && g.maybe(70) { // a pushed entry is a batch of its own
		e := g.entry()
		if e.Push = g.Sizes.Has(nicspec.PartPush); e.Push && e.Blocks > 0 && g.maybe(40) {
			e.Rung = uint8(g.intN(16))
		}
		s.Entries = append(s.Entries, e)
		return s
	}
	for range 1 + g.intN(6) {
		s.Entries = append(s.Entries, g.entry())
	}
	if g.Sizes.Has(nicspec.PartLong) && g.maybe(25) {
		s.Short, s.Pause = 1+g.intN(5), g.intN(300)
	}
	return s
}

// entry draws any work entry, most of them valid.
func (g *generator) entry() program.Entry {
	e := g.work()
	switch n := g.intN(40); {
	case n < 10:
		e.Noise = program.NoiseUnused
	case n == 10 || g.pushy && n < 25:
		e.Noise = program.NoiseAll
	}
	e.Push = g.Sizes.Has(nicspec.PartPush) && g.maybe(30)
	if e.Push && e.Blocks > 0 && g.maybe(40) {
		e.Rung = uint8(g.intN(16))
	}
	return e
}

func (g *generator) work() program.Entry {
	switch n := g.intN(20); {
	case n == 0:
		return program.Entry{Opcode: nicspec.OpcodeNop, Complete: g.maybe(70), Frame: g.idFrame(), Blocks: g.blocks()}
	case n == 1:
		return program.Entry{Opcode: nicspec.Opcode(5 + g.intN(251)), Complete: g.maybe(50), Frame: g.idFrame(),
			Blocks: g.blocks()}
	case n < 5 && g.Sizes.Has(nicspec.PartCopy) || n == 2 && g.maybe(50):
		return g.copy()
	}
	e := program.Entry{Opcode: nicspec.OpcodeSend, Complete: g.maybe(70), Port: uint8(g.intN(g.Sizes.Ports))}
	anywhere := g.maybe(6) || g.anyHeaders && g.maybe(60)
	if anywhere {
		g.headersAnywhere(&e)
	} else {
		e.Frame = g.frame(true)
	}
	if !anywhere && g.Sizes.Has(nicspec.PartAppend) {
		g.append(&e)
	}
	n := len(e.Frame.Bytes(e.Frame.Len))
	if e.Blocks = g.blocks(); e.Blocks > 0 {
		g.cutLong(&e, n)
	} else {
		g.cut(&e, n)
	}
	e.Pad = n < nicspec.FrameMin && g.maybe(90) || g.maybe(20)
	if !anywhere {
		g.offloads(&e)
	}
	if g.maybe(15) {
		g.spoil(&e)
	}
	return e
}

// headersAnywhere draws a frame of random bytes, declares some of them to be headers at any offset, and requests
// offloads that use those headers [T7].
func (g *generator) headersAnywhere(e *program.Entry) {
	n := pick(g, 60+g.intN(100), 60+g.intN(100), 128+g.intN(400), 128+g.intN(1400))
	l3, ihl, version := pick(g, g.intN(16), g.intN(96)), 5+g.intN(3), pick(g, 4, 4, 6)
	l3 = min(l3, n-48)
	hdr := 4 * ihl
	if version == 6 {
		hdr = 40
	}
	l4, ends := l3+hdr, g.maybe(70)
	if !ends {
		l4 = l3 + 1 + pick(g, g.intN(16), g.intN(nicspec.ParseBytes-8-l3))
	}
	l4 = min(l4, n-20)
	u := pick(g, n-l4, 8+g.intN(n-l4-7))
	e.Frame = g.idFrame()
	e.Frame.Len = n
	put := func(at int, v uint16) { e.Frame.Put = append(e.Frame.Put, program.Put{At: at, Value: v}) }
	if l3 >= 2 && g.maybe(50) {
		put(l3-2, map[int]uint16{4: craft.TypeIPv4, 6: craft.TypeIPv6}[version])
	}
	put(l3, uint16(version<<12|ihl<<8|g.intN(256)))
	put(l4+4, uint16(u))
	e.L3, e.L4 = uint8(l3), uint8(l4)
	e.IPCsum = version == 4 && g.maybe(50)
	switch g.intN(3) {
	case 0:
		e.UDPCsum = true
	case 1:
		e.UDPZero = true
	}
	e.ICRC = ends && g.maybe(50)
	if g.Sizes.Has(nicspec.PartCrc32c) && g.maybe(20) {
		e.CRC32C, e.CrcStart, e.CrcOff = true, uint16(g.intN(n)), uint16(g.intN(n))
	}
}

// idFrame returns a frame of random bytes. Its seed also goes into the wqe_id of an entry, even if that sends no frame.
func (g *generator) idFrame() program.Frame {
	var f program.Frame
	f.Seed = uint64(g.rng.Uint32())
	return f
}

// cut spreads n bytes over inline bytes and pieces.
func (g *generator) cut(e *program.Entry, n int) {
	switch {
	case n <= nicspec.InlineMax && g.maybe(60):
		e.Inline = n
		return
	case g.maybe(40):
		e.Inline = min(pick(g, 1+g.intN(16), 16, 17+g.intN(16), 32), n-1)
	}
	remainder := n - e.Inline
	most := nicspec.WqeSlots - (e.Inline+nicspec.WqeSlotBytes-1)/nicspec.WqeSlotBytes
	for i := range 1 + g.intN(most) {
		if remainder == 0 {
			return
		}
		p := g.piece(remainder)
		if last := i == most-1; !last {
			p.Len = uint32(1 + pick(g, g.intN(remainder), g.intN(min(remainder, 4)), g.intN(min(remainder, 64))))
		}
		e.Pieces = append(e.Pieces, p)
		remainder -= int(p.Len)
	}
	if remainder > 0 {
		e.Pieces[len(e.Pieces)-1].Len += uint32(remainder)
	}
}

// piece draws memory for n bytes.
func (g *generator) piece(n int) program.Piece {
	good := g.goodKeys()
	if g.sharedBuffers {
		return program.Piece{Key: pick(g, good[:]...), Len: uint32(n), Same: 1 + g.intN(2),
			Skew: pick(g, 0, 0, g.intN(64))}
	}
	p := program.Piece{Key: pick(g, good[:]...), Len: uint32(n), Old: g.reusedMemory && g.maybe(20)}
	if g.maybe(1) {
		p.Key = g.keyNowhere
	}
	switch {
	case g.maybe(15):
		p.Page = 1 + g.intN(min(n, 4095))
	case g.maybe(60):
		p.Skew = pick(g, 4*g.intN(16), g.intN(64))
	}
	return p
}

// offloads requests offloads where the headers allow them, and now and then where they do not.
func (g *generator) offloads(e *program.Entry) {
	f := &e.Frame
	if f.UDPSum == craft.SumOnes {
		e.L3, e.L4 = uint8(f.L3Off()), uint8(f.L3Off()+f.L3Len())
		e.UDPCsum, e.ICRC = true, f.Roce && !f.ICRCBad
		return
	}
	if !e.Append && (f.L3 == 0 && g.maybe(90) || g.maybe(35)) {
		return
	}
	e.L3, e.L4 = uint8(f.L3Off()), uint8(f.L3Off()+f.L3Len())
	e.IPCsum = f.L3 == 4 && g.maybe(60) || g.maybe(5)
	if f.Proto == 17 || g.maybe(5) {
		switch g.intN(3) {
		case 0:
			e.UDPCsum = true
		case 1:
			e.UDPZero = true
		}
	}
	e.ICRC = f.Roce && g.maybe(60) || g.maybe(5)
	if e.Append {
		e.ICRC = g.maybe(97)
	}
	switch g.intN(25) {
	case 0:
		e.L3 = uint8(g.rng.Uint32())
	case 1:
		e.L4 = uint8(g.rng.Uint32())
	}
	if g.maybe(10) || g.Sizes.Has(nicspec.PartCrc32c) && g.maybe(30) {
		e.CRC32C = g.maybe(30) || g.Sizes.Has(nicspec.PartCrc32c)
		e.CrcStart, e.CrcOff = uint16(g.intN(128)),
			uint16(pick(g, g.intN(600), g.intN(600), g.intN(nicspec.FrameMax), g.intN(1<<16)))
		if g.maybe(30) { // near the end of the frame
			e.CrcOff = uint16(max(0, len(f.Bytes(f.Len))-10+g.intN(12)))
		}
	}
}

// spoil makes an entry invalid in one of the ways that [T3] lists.
func (g *generator) spoil(e *program.Entry) {
	patch := func(at int, xor uint8) { e.Patch = append(e.Patch, program.Patch{At: at, Xor: xor}) }
	slot := nicspec.WqeSlotBytes * ((e.Inline + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes)
	if n := len(e.Pieces); n > 0 && g.maybe(70) {
		i := g.intN(n)
		at := 16 + slot + i*nicspec.SegSize
		switch g.intN(9) {
		case 0:
			e.Pieces[i].Len = 0
		case 1:
			patch(at+2, 1<<g.intN(8)) // reserved bits of the key
		case 2:
			patch(at+3, 1<<g.intN(8)) // variant field of the key
			if g.maybe(40) {
				// a key that differs from a valid one only in its highest bit
				e.Patch[len(e.Patch)-1] = program.Patch{At: at + 1, Xor: 0x80}
			}
		case 3:
			e.Pieces[i].Key = pick(g, g.keyInvalid, g.keyUnset, g.Sizes.NumKeys, 0xffff)
		case 4:
			e.Pieces[i].Key = g.keyNoRead
		case 5, 6:
			e.Pieces[i].Key = g.keyShort
		case 7:
			patch(at+4+g.intN(4), 1<<g.intN(8)) // length of the piece
		default:
			patch(at+8+g.intN(8), 1<<g.intN(8)) // address of the piece
		}
		return
	}
	switch g.intN(6) {
	case 0:
		patch(0, uint8(g.rng.Uint32()))
	case 1:
		patch(1, 1<<g.intN(8))
	case 2:
		patch(2, 1<<g.intN(8))
	case 3:
		e.Port = uint8(g.Sizes.Ports + g.intN(250))
	case 4:
		e.UDPCsum, e.UDPZero = true, true
	default:
		patch(4+g.intN(2), pick(g, uint8(0x80), 1<<g.intN(8)))
	}
}

// copy draws an entry of the copy engine, which is valid in most cases.
func (g *generator) copy() program.Entry {
	e := g.goodCopy()
	if g.maybe(4) { // the entry may be invalid: a copy has one block, and only opcodes that write may have a fence
		e.Blocks = g.blocks()
		e.Fence = e.Fence || g.Sizes.Has(nicspec.PartFence)
	}
	if g.maybe(12) {
		g.spoil(&e)
	}
	if g.maybe(6) {
		e.Pieces[len(e.Pieces)-1].Key = g.keyReadOnly
	}
	return e
}

// goodCopy draws an entry of the copy engine that may succeed.
func (g *generator) goodCopy() program.Entry {
	return g.goodCopyOf(nicspec.Opcode(int(nicspec.OpcodeCopy) + g.intN(3)))
}

func (g *generator) goodCopyOf(op nicspec.Opcode) program.Entry {
	e := program.Entry{Opcode: op, Complete: g.maybe(70), Frame: g.idFrame()}
	n := pick(g, 1+g.intN(3), 4+g.intN(60), 64*(1+g.intN(16)), 64+g.intN(450), 512+g.intN(3000), 4096+g.intN(6000))
	switch {
	case e.Opcode == nicspec.OpcodeInvalidate && g.maybe(30): // moves no bytes, so any length is cheap
		n = 1 + g.intN(nicspec.CopyMax)
	case g.maybe(1):
		n = 1 + g.intN(1<<17)
	}
	lines := e.Opcode != nicspec.OpcodeCopy && g.maybe(80)
	if lines {
		n = (n + 63) &^ 63
	}
	e.Pieces = append(e.Pieces, g.piece(n))
	if lines {
		e.Pieces[0] = program.Piece{Key: pick(g, g.keyArm, g.keyHigh), Len: uint32(n)}
	}
	if e.Opcode != nicspec.OpcodeInvalidate {
		e.Pieces = append(e.Pieces, g.piece(n))
		e.Pieces[1].Old, e.Pieces[1].Same = false, 0
		if g.maybe(50) { // source and destination at the same offset within a line
			e.Pieces[0].Page, e.Pieces[1].Page, e.Pieces[1].Skew = 0, 0, e.Pieces[0].Skew
		}
		e.Fence = g.Sizes.Has(nicspec.PartFence) && g.maybe(35)
	}
	return e
}

// failThenCopy makes a copy fail and posts good ones after it on its channel.
func (g *generator) failThenCopy() program.Op {
	region := g.intN(program.Regions)
	g.add(program.Op{Fault: &program.Fault{Kind: inject.FaultKind(g.intN(inject.NumFaults)).String(),
		Of: program.OfMemory, Place: placeOf(region), Count: 1}})
	s := &program.Send{Queue: pick(g, g.tx...)}
	for i := range 3 + g.intN(3) {
		e := g.goodCopy()
		if i == 0 {
			e = g.goodCopyOf(nicspec.OpcodeCopy)
		}
		e.Complete = true
		switch from := &e.Pieces[0].Key; {
		case i == 0:
			*from = g.goodKeys()[region]
		case *from == g.goodKeys()[region] && region == program.RegionArm:
			*from = g.keyHigh
		case *from == g.goodKeys()[region]:
			*from = g.keyArm
		}
		s.Entries = append(s.Entries, e)
	}
	return program.Op{Send: s}
}
