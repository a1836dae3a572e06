package driver

import (
	"errors"
	"fmt"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// Entry is a work entry. Entries are pointers, so a caller that keeps one and changes it for each post allocates
// nothing.
type Entry interface {
	// Check returns an error for an entry that a NIC of that build would refuse regardless of the bytes sent [T3],
	// [D1].
	Check(b *nicspec.Build) error

	// Blocks returns the number of 64-byte blocks that the entry takes in the ring [T14].
	Blocks() int

	// Encode writes the entry to dst, which has room for its blocks, without checking it.
	Encode(dst []byte)
}

// Order holds the fields common to all work entries.
type Order struct {
	ID       uint32 // returned in the completion entry
	Complete bool   // request a completion entry even on success
}

// Offloads are the fields that the NIC inserts into a frame [T7], [X1].
type Offloads struct {
	IPv4Checksum bool
	UDPChecksum  bool
	UDPZero      bool // set the UDP checksum to 0
	ICRC         bool
	// with ICRC: the NIC appends the ICRC and the padding of the BTH's pad count; the frame must not contain them [T15]
	Append bool
	L3, L4 uint8 // offsets of the IP and UDP headers, bytes

	CRC32C   bool
	CRCAt    uint16 // offset of the CRC-32C, bytes
	CRCStart uint16 // offset of the first byte covered
}

// Send sends a frame: the inline bytes, then the pieces in order. It takes as many blocks as these need; more than one
// block needs a NIC with part long.
type Send struct {
	Order
	Port   int
	Inline []byte
	Pieces []Span
	Pad    bool // zero-pad shorter frames to 60 bytes [T5]
	Offloads
}

// Copy copies Src to Dst, of equal length [D2]. With Invalidate, the lines of Src are then invalidated in the Arm cache
// [D5].
type Copy struct {
	Order
	Dst, Src   Span
	Invalidate bool
	// write only after everything that earlier entries of the queue write, and their messages, have left [D10]
	Fence bool
}

// Invalidate drops lines of Arm memory from the Arm cache [D4].
type Invalidate struct {
	Order
	Range Span
}

// Nop is a work entry without an effect: it completes in its turn.
type Nop struct{ Order }

// Raw is a work entry of one block, given as bytes that the driver does not check.
type Raw [nicspec.WqeBytes]byte

var (
	_ Entry = (*Send)(nil)
	_ Entry = (*Copy)(nil)
	_ Entry = (*Invalidate)(nil)
	_ Entry = (*Nop)(nil)
	_ Entry = (*Raw)(nil)
)

// Len returns the length of the frame in bytes, before padding and appended bytes.
func (s *Send) Len() int {
	n := len(s.Inline)
	for i := range s.Pieces {
		n += int(s.Pieces[i].Len)
	}
	return n
}

// InlineSlots returns the number of work entry slots for n inline bytes.
func InlineSlots(n int) int { return (n + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes }

// slotsOf returns the number of slots of an entry of so many blocks [T14].
func slotsOf(blocks int) int { return nicspec.WqeSlots + (blocks-1)*nicspec.WqeMoreSlots }

// slots returns the number of slots that the entry needs.
func (s *Send) slots() int { return InlineSlots(len(s.Inline)) + len(s.Pieces) }

// Blocks implements Entry.
func (s *Send) Blocks() int {
	const fields = 1 // slots of the first block that its fixed fields take
	return min((s.slots()+fields+nicspec.WqeMoreSlots-1)/nicspec.WqeMoreSlots, nicspec.WqeBlocksMax)
}

// Check implements Entry.
func (s *Send) Check(b *nicspec.Build) error {
	switch {
	case s.UDPChecksum && s.UDPZero:
		return errors.New("a UDP checksum, and a UDP checksum of 0: want one of them")
	case s.Append && !b.Has(nicspec.PartAppend):
		return errors.New("appending pad and ICRC: want a NIC with part append, which this one lacks [N1]")
	case s.Append && !s.ICRC:
		return errors.New("an appended ICRC that is not inserted: want ICRC with Append [T3]")
	case s.Port < 0 || s.Port >= b.Ports:
		return fmt.Errorf("port %d: want 0 to %d", s.Port, b.Ports-1)
	case s.CRC32C && !b.Has(nicspec.PartCrc32c):
		return errors.New("CRC-32C: want a NIC with part crc32c, which this one lacks [N1]")
	}
	if err := errors.Join(s.checkSlots(b), s.checkLen()); err != nil {
		return err
	}
	for i := range s.Pieces {
		if err := s.Pieces[i].check("piece", dma.Access{Read: true}); err != nil {
			return fmt.Errorf("%w (piece %d)", err, i)
		}
	}
	return nil
}

// checkSlots returns an error for more inline bytes and pieces than an entry has slots.
func (s *Send) checkSlots(b *nicspec.Build) error {
	inline, pieces := len(s.Inline), len(s.Pieces)
	most, why := slotsOf(nicspec.WqeBlocksMax), ""
	if !b.Has(nicspec.PartLong) {
		most, why = slotsOf(1), "; more want a NIC with part long, which this one lacks [N1]"
	}
	switch {
	case inline > nicspec.InlineMaxLong:
		return fmt.Errorf("%d B inline: want %d at most", inline, nicspec.InlineMaxLong)
	case pieces > nicspec.SegMax:
		return fmt.Errorf("%d pieces: want %d at most", pieces, nicspec.SegMax)
	case s.slots() > most:
		return fmt.Errorf("%d B inline and %d pieces: want %d slots at most, of %d inline bytes or a piece each%s",
			inline, pieces, most, nicspec.WqeSlotBytes, why)
	}
	return nil
}

// checkLen returns an error for frames that are too short or too long.
func (s *Send) checkLen() error {
	n, least, most, appended := s.Len(), nicspec.FrameMin, nicspec.FrameMax, ""
	if s.Append {
		const icrc = 4
		least, most, appended = least-icrc, most-nicspec.AppendMax, ", before what is appended"
	}
	switch {
	case n == 0 || n > most:
		return fmt.Errorf("frame of %d B: want 1 to %d%s", n, most, appended)
	case n < least && !s.Pad:
		return fmt.Errorf("frame of %d B: want %d or more%s, or Pad", n, least, appended)
	}
	return nil
}

// Encode implements Entry. Inline bytes and pieces beyond the entry's slots are left out.
func (s *Send) Encode(dst []byte) {
	blocks := s.Blocks()
	w := nicspec.Wqe(dst[:blocks*nicspec.WqeBytes])
	clear(w)
	w.SetBlocks(uint8(blocks - 1))
	w.SetOpcode(nicspec.OpcodeSend)
	s.Order.encode(w)
	w.SetNseg(uint8(len(s.Pieces)))
	w.SetInlineLen(uint8(len(s.Inline)))
	w.SetPort(uint8(s.Port))
	w.SetFPad(s.Pad)
	s.Offloads.encode(w)
	slots := w[nicspec.WqeBytes-len(w.Slots()):] // slots of the further blocks
	copy(slots, s.Inline)
	at := InlineSlots(len(s.Inline)) * nicspec.WqeSlotBytes
	for i := 0; i < len(s.Pieces) && at < len(slots); i++ {
		s.Pieces[i].encode(slots[at:])
		at += nicspec.WqeSlotBytes
	}
}

func (o *Offloads) encode(w nicspec.Wqe) {
	w.SetFIpCsum(o.IPv4Checksum)
	w.SetFUdpCsum(o.UDPChecksum)
	w.SetFUdpZero(o.UDPZero)
	w.SetFIcrc(o.ICRC)
	w.SetFAppend(o.Append)
	w.SetL3Off(o.L3)
	w.SetL4Off(o.L4)
	w.SetFCrc32c(o.CRC32C)
	w.SetCrcOff(o.CRCAt)
	w.SetCrcStart(o.CRCStart)
}

func (o *Order) encode(w nicspec.Wqe) {
	w.SetWqeId(o.ID)
	w.SetFComplete(o.Complete)
}

// Check implements Entry.
func (c *Copy) Check(b *nicspec.Build) error {
	switch {
	case !b.Has(nicspec.PartCopy):
		return errors.New("copy: want a NIC with part copy, which this one lacks [N1]")
	case c.Fence && !b.Has(nicspec.PartFence):
		return errors.New("copy with a fence: want a NIC with part fence, which this one lacks [N1]")
	case c.Src.Len != c.Dst.Len:
		return fmt.Errorf("copy of %d B to %d B: want equal lengths", c.Src.Len, c.Dst.Len)
	case c.Src.Len > nicspec.CopyMax:
		return fmt.Errorf("copy of %d B: want %d at most", c.Src.Len, nicspec.CopyMax)
	}
	if err := c.Src.check("source", dma.Access{Read: true, Write: c.Invalidate}); err != nil {
		return err
	}
	if err := c.Dst.check("destination", dma.Access{Write: true}); err != nil {
		return err
	}
	if c.Invalidate {
		return c.Src.checkLines()
	}
	return nil
}

// Blocks implements Entry.
func (c *Copy) Blocks() int { return 1 }

// Encode implements Entry.
func (c *Copy) Encode(dst []byte) {
	w := nicspec.Wqe(dst[:nicspec.WqeBytes])
	clear(w)
	w.SetOpcode(nicspec.OpcodeCopy)
	if c.Invalidate {
		w.SetOpcode(nicspec.OpcodeCopyInvalidate)
	}
	c.Order.encode(w)
	w.SetFFence(c.Fence)
	w.SetNseg(2)
	c.Src.encode(w.Slots())
	c.Dst.encode(w.Slots()[nicspec.WqeSlotBytes:])
}

// Check implements Entry.
func (v *Invalidate) Check(b *nicspec.Build) error {
	if !b.Has(nicspec.PartCopy) {
		return errors.New("invalidate: want a NIC with part copy, which this one lacks [N1]")
	}
	if v.Range.Len > nicspec.CopyMax {
		return fmt.Errorf("invalidation of %d B: want %d at most", v.Range.Len, nicspec.CopyMax)
	}
	if err := v.Range.check("range", dma.Access{Write: true}); err != nil {
		return err
	}
	return v.Range.checkLines()
}

// Blocks implements Entry.
func (v *Invalidate) Blocks() int { return 1 }

// Encode implements Entry.
func (v *Invalidate) Encode(dst []byte) {
	w := nicspec.Wqe(dst[:nicspec.WqeBytes])
	clear(w)
	w.SetOpcode(nicspec.OpcodeInvalidate)
	v.Order.encode(w)
	w.SetNseg(1)
	v.Range.encode(w.Slots())
}

// checkLines returns an error for a span that is not whole lines of Arm memory.
func (s *Span) checkLines() error {
	if bus := s.Bus(); bus>>nicspec.EndpointShift != nicspec.EndpointArm || bus%nicspec.LineBytes != 0 ||
		s.Len%nicspec.LineBytes != 0 {
		return fmt.Errorf("invalidation of %d B at bus address %#x: want whole lines of %d B in Arm memory", s.Len, bus,
			nicspec.LineBytes)
	}
	return nil
}

// Check implements Entry.
func (n *Nop) Check(*nicspec.Build) error { return nil }

// Blocks implements Entry.
func (n *Nop) Blocks() int { return 1 }

// Encode implements Entry.
func (n *Nop) Encode(dst []byte) {
	w := nicspec.Wqe(dst[:nicspec.WqeBytes])
	clear(w)
	n.Order.encode(w)
}

// Check implements Entry.
func (r *Raw) Check(*nicspec.Build) error { return nil }

// Blocks implements Entry.
func (r *Raw) Blocks() int { return 1 }

// Encode implements Entry.
func (r *Raw) Encode(dst []byte) { copy(dst, r[:]) }
