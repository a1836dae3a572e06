package player

import (
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/traffic/craft"
	"nictwin/stack/driver"
)

// txRing is an enabled transmit queue.
type txRing struct {
	ring
	cfg  *program.TxQueue
	done uint16 // index after the latest entry known to have ended
	over int    // blocks of all entries that have ended
	ends int    // completion entries that the queue has written

	posted int  // blocks of all entries posted
	across bool // some entry lay across index 65,536
	work   []*sent
	past   pastEntry // kind of the entry that ended last
}

// sent is a posted work entry.
type sent struct {
	e   *program.Entry
	raw []byte   // the entry's blocks as written to the ring
	seg []uint64 // bus addresses of the pieces, before Patch corrupts them
}

// blocks returns the number of blocks that the entry occupies.
func (s *sent) blocks() uint16 { return uint16(len(s.raw) / nicspec.WqeBytes) }

func (x *player) openTx(c *program.TxQueue) error {
	if err := x.disable(program.Queue{Tx: true, Queue: c.Queue}); err != nil || c.Queue >= x.sizes.NumTxq {
		return err
	}
	r := &txRing{ring: ring{RawQueue: driver.NewRawQueue(true, c.Queue, c.LogSize), x: x}, cfg: c,
		work: make([]*sent, 1<<c.LogSize)}
	r.take = r.entry
	if err := r.open(c.Ring, c.Done); err != nil {
		return err
	}
	f := nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(c.LogSize), RingBase: r.Base, CqBase: r.CQ}
	if x.sizes.Has(nicspec.PartPause) {
		f.PfcClass = c.Class
	}
	if x.sizes.Has(nicspec.PartEcn) {
		f.EcnMode = c.Ecn
	}
	if err := x.messages(true, c.Msix, &f.MsixAddr, &f.MsixData, &f.ModCount, &f.ModCycles); err != nil {
		return err
	}
	x.tx[c.Queue] = r
	return r.enable(&f)
}

func (r *txRing) entry(raw []byte) {
	cqe := nicspec.TxCqe(raw)
	if cqe.Type() == nicspec.CqeTypeEvent {
		r.event = true
		r.x.watcher.event(&r.ring, cqe.Status(), cqe.Index())
		return
	}
	was := r.done
	r.done = cqe.Index() + 1
	s := r.work[r.Place(cqe.Index())]
	if s != nil {
		r.done = cqe.Index() + s.blocks()
	}
	r.ends++
	r.over += int(r.done - was)
	r.x.watcher.txBeyond(r, int(r.done-was))
	if s != nil {
		r.x.endsHeld(s)
		r.x.watcher.ended(r, cqe, s)
	}
}

// send posts work entries.
func (x *player) send(s *program.Send) error {
	if s.Times > 1 {
		return x.sendRepeatedly(s)
	}
	r := x.tx[s.Queue]
	if r == nil || r.event {
		return nil
	}
	var push *sent
	for i := range s.Entries {
		room := r.Size() - int(r.PI-r.done)
		w, err := x.wqe(&s.Entries[i], uint32(r.PI), room)
		if err != nil {
			return err
		}
		if int(w.blocks()) > room {
			break
		}
		r.work[r.Place(r.PI)] = w
		r.posts(int(w.blocks()))
		for at := 0; at < len(w.raw); at += nicspec.WqeBytes {
			r.filled(r.PI)
			if err := x.write(r.NextSlot(), w.raw[at:at+nicspec.WqeBytes]); err != nil {
				return err
			}
		}
		if push = nil; s.Entries[i].Push {
			push = w
		}
	}
	switch {
	case push != nil && r.PI-r.rung == push.blocks() && x.sizes.Has(nicspec.PartPush):
		return x.push(r, push)
	case s.Hold || r.rung == r.PI:
		return nil
	}
	if n := uint16(s.Short); n > 0 && n < r.PI-r.rung {
		if err := r.ringBellFor(r.PI - n); err != nil {
			return err
		}
		x.watcher.inside(r)
		if err := x.run(s.Pause); err != nil {
			return err
		}
	}
	x.watcher.rang(&r.ring, r.PI-r.done, x.sending())
	return r.ringBell()
}

// sending counts the transmit queues with entries that may not have ended.
func (x *player) sending() (queues int) {
	for _, r := range x.tx {
		if r.done != r.PI {
			queues++
		}
	}
	return queues
}

// posts counts the blocks of a posted entry.
func (r *txRing) posts(blocks int) {
	was := r.posted
	r.posted += blocks
	r.across = r.across || was < round && r.posted > round
}

// push rings the doorbell with the entry in it, block by block [W1].
func (x *player) push(r *txRing, w *sent) error {
	x.watcher.pushed(w)
	first := r.rung
	for i := range w.blocks() {
		if w.e.Rung>>i&1 != 0 {
			if err := r.ringBellFor(first + i + 1); err != nil {
				return err
			}
			continue
		}
		r.rung = first + i + 1
		if err := x.b.Arm.Write(nicspec.RegTxPush(r.Number),
			w.raw[int(i)*nicspec.WqeBytes:][:nicspec.WqeBytes]); err != nil {
			return err
		}
	}
	return nil
}

// wqe builds a work entry for a ring with room for the given number of blocks. If an entry of maximum size might not
// fit after it, it requests a completion, so that the player learns when room is free.
func (x *player) wqe(e *program.Entry, id uint32, room int) (*sent, error) {
	s := &sent{e: e, raw: make([]byte, (1+int(e.Blocks))*nicspec.WqeBytes)}
	w := nicspec.WqeFields{
		Opcode: e.Opcode, Nseg: uint8(len(e.Pieces)), InlineLen: uint8(e.Inline), Port: e.Port, FComplete: e.Complete ||
			x.mayBeLast(e, room),
		FFence: e.Fence, FAppend: e.Append, Blocks: e.Blocks, FIpCsum: e.IPCsum, FUdpCsum: e.UDPCsum,
		FUdpZero: e.UDPZero, FIcrc: e.ICRC, FCrc32c: e.CRC32C, FPad: e.Pad,
		L3Off: e.L3, L4Off: e.L4, CrcOff: e.CrcOff, CrcStart: e.CrcStart, WqeId: id*0x01010101 + uint32(e.Frame.Seed),
	}
	w.Encode(s.raw)
	slots := s.raw[nicspec.WqeBytes-len(w.Slots):] // the slots of all blocks
	b := x.content(e)
	copy(slots, b[:e.Inline])
	b = b[e.Inline:]
	for i := range e.Pieces {
		p := &e.Pieces[i]
		n := min(int(p.Len), len(b))
		seg, bus, err := x.piece(p, b[:n], reserved(e, p))
		if err != nil {
			return nil, err
		}
		seg.Encode(slots[(driver.InlineSlots(e.Inline)+i)*nicspec.WqeSlotBytes:])
		s.seg = append(s.seg, bus)
		b = b[n:]
	}
	Noise(e, s.raw)
	for _, p := range e.Patch {
		s.raw[p.At] ^= p.Xor
	}
	if n := x.blocksOf(s.raw); n*nicspec.WqeBytes <= len(s.raw) {
		s.raw = s.raw[:n*nicspec.WqeBytes]
	} else {
		s.raw = append(s.raw, craft.Pattern(n*nicspec.WqeBytes-len(s.raw), e.Frame.Seed+17)...)
	}
	return s, nil
}

// blocksOf returns how many blocks an entry that begins with these bytes declares [T14] [N1].
func (x *player) blocksOf(raw []byte) int {
	if !x.sizes.Has(nicspec.PartLong) {
		return 1
	}
	return 1 + int(nicspec.Wqe(raw).Blocks())
}

// mayBeLast reports whether an entry may be the last one that fits into the ring.
func (x *player) mayBeLast(e *program.Entry, room int) bool {
	if !x.sizes.Has(nicspec.PartLong) {
		return room == 1
	}
	return room-1-int(e.Blocks) < nicspec.WqeBlocksMax
}

// content returns the bytes that software writes for an entry: its frame or a copy's source, as many as its pieces
// need, up to a limit.
func (x *player) content(e *program.Entry) []byte {
	n, most := e.Inline, program.MaxFrame
	if copies(e) && e.Pieces[0].Same == 0 { // shared buffers have a fixed size
		most = max(most, min(int(e.Pieces[0].Len), program.MaxCopied))
	}
	for i := range e.Pieces {
		n = min(n+int(e.Pieces[i].Len), most)
	}
	if e.Opcode != nicspec.OpcodeSend {
		return craft.Pattern(max(n, e.Inline), e.Frame.Seed)
	}
	return program.Fit(e.Frame.Bytes(e.Frame.Len), max(n, e.Inline), e.Frame.Seed)
}

// copies reports whether an entry moves the bytes of its first piece.
func copies(e *program.Entry) bool {
	return (e.Opcode == nicspec.OpcodeCopy || e.Opcode == nicspec.OpcodeCopyInvalidate) && len(e.Pieces) > 0
}

// piece allocates `reserve` bytes of memory for a piece, writes b there, and names it by its key.
func (x *player) piece(p *program.Piece, b []byte, reserve uint64) (nicspec.SegFields, uint64, error) {
	k, known := x.keys[p.Key]
	region := program.RegionArm
	if known {
		region = k.region
	}
	base := x.at[region]
	at := program.Place{Skew: p.Skew, Page: p.Page}
	if p.Same > 0 {
		return x.shared(p, base, k, known, b)
	}
	bus := alignAddress(&at, base+x.used[region])
	if bus+uint64(p.Len) > base+program.PieceBytes {
		bus = alignAddress(&at, base)
	}
	if beyond := uint64(p.Len) - program.PieceBytes; p.Len > program.PieceBytes &&
		base&(program.MemoryBytes-1) > program.Room+beyond {
		bus = base - beyond
	}
	if p.Old && x.last[region] != 0 {
		bus = x.last[region]
	} else if err := x.write(bus^k.far, b); err != nil {
		return nicspec.SegFields{}, 0, err
	}
	if bus >= base {
		x.used[region] = bus + reserve - base
	}
	x.last[region] = bus
	return segmentOf(p, bus^k.far, k, known), bus ^ k.far, nil
}

// reserved returns how many bytes a piece reserves: all that a copy moves, else at most 32 KB.
func reserved(e *program.Entry, p *program.Piece) uint64 {
	const part = 8 * tlp.PageBytes
	if copies(e) && p.Len <= program.MaxCopied {
		return uint64(p.Len)
	}
	return min(uint64(p.Len), part)
}

// segmentOf returns a piece as a work entry names it.
func segmentOf(p *program.Piece, bus uint64, k keyInForce, known bool) nicspec.SegFields {
	seg := nicspec.SegFields{Key: driver.KeyID(p.Key, k.Variant), Len: p.Len, Addr: bus}
	if known {
		seg.Addr = bus - k.BusBase + k.VaBase
	}
	return seg
}

// sharedAt returns the address of a shared buffer in a region.
func sharedAt(base uint64, same int) uint64 {
	return base + program.PieceBytes - uint64(program.SharedBuffers+1-same)*program.SharedBytes
}

// shared places a piece in a buffer that other entries name, too. Software rewrites it when it posts the entry.
func (x *player) shared(p *program.Piece, base uint64, k keyInForce, known bool, b []byte) (nicspec.SegFields, uint64,
	error) {
	bus := (sharedAt(base, p.Same) + uint64(p.Skew)) ^ k.far
	if err := x.write(bus, b); err != nil {
		return nicspec.SegFields{}, 0, err
	}
	return segmentOf(p, bus, k, known), bus, nil
}

// rewrite writes a shared buffer while entries may be reading it.
func (x *player) rewrite(w *program.Rewrite) error {
	at := sharedAt(x.at[w.Place.Region()], w.Same) + uint64(w.Off)
	x.watcher.rewritten(w)
	return x.write(at, craft.Pattern(w.Len, w.Seed))
}

func regionOf(bus uint64) int {
	switch ep, off := mem.Split(bus); {
	case ep == nicspec.EndpointHost:
		return program.RegionHost
	case off >= 1<<32:
		return program.RegionHigh
	}
	return program.RegionArm
}

// keyInForce is a memory key as last committed.
type keyInForce struct {
	nicspec.KeyEntryFields
	region int
	far    uint64 // bits in which the key's bus addresses differ from those of the region
}

// key writes a memory key that names a region for pieces, beginning at the place's skew.
func (x *player) key(k *program.Key) error {
	f := nicspec.KeyEntryFields{Valid: 1, RightRead: !k.NoRead, RightWrite: k.Write, Variant: k.Variant, VaBase: k.Base}
	if k.Invalid {
		f.Valid = 0
	}
	f.BusBase, f.Length = Spans(k, x.at[k.Place.Region()])
	f.VaBase = min(f.VaBase, -f.Length)
	entry := make([]byte, nicspec.KeyEntrySize)
	f.Encode(entry)
	status, err := x.command(nicspec.TableOpWrite, nicspec.TableKey, k.Index, entry)
	if status == nicspec.TableStatusOk && err == nil {
		x.keys[k.Index] = keyInForce{f, k.Place.Region(), k.Place.Far}
	}
	return err
}

// Spans returns the bus addresses that a key covers, given the first one of its region. Nothing else may lie in the
// part outside the region: reads of a ring there could not be attributed, and copies could write anywhere.
func Spans(k *program.Key, base uint64) (bus, length uint64) {
	bus, length = base^k.Place.Far+uint64(k.Place.Skew), program.PieceBytes-uint64(k.Place.Skew)
	if k.Short > 0 {
		return bus, min(k.Short, length)
	}
	_, offset := mem.Split(bus)
	before := min(k.Room, max(offset, program.Room)-program.Room)
	return bus - before, before + length
}

// Noise randomizes the bits of an entry that its Noise selects.
func Noise(e *program.Entry, raw []byte) {
	const opcode, flags, id, l3, l4, slots = 0, 4, 8, 12, 13, 16 // offsets of these fields in the entry
	if e.Noise == program.NoiseNone {
		return
	}
	was := slices.Clone(raw)
	keep := func(from, to int) { copy(raw[from:to], was[from:to]) }
	copy(raw, craft.Pattern(len(raw), e.Frame.Seed+13))
	keep(opcode, opcode+1)
	raw[flags] = raw[flags]&^1 | was[flags]&1
	keep(id, id+4)
	if e.Noise == program.NoiseAll || e.Opcode == nicspec.OpcodeNop || e.Opcode > nicspec.OpcodeCopyInvalidate {
		return
	}
	keep(opcode, flags+2)
	if e.IPCsum || e.UDPCsum || e.UDPZero || e.ICRC {
		keep(l3, l4+1)
	}
	if e.CRC32C {
		keep(flags+2, id)
		keep(l4+1, slots)
	}
	keep(slots, slots+nicspec.WqeSlotBytes*(driver.InlineSlots(e.Inline)+len(e.Pieces)))
}
