package kit

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
)

// KeyTable holds the memory keys that a check has written, by index.
type KeyTable map[int]nicspec.KeyEntryFields

// Expected computes the result of a work entry as section 7 defines it, rule by rule: its status and, with Ok, the
// frame that leaves (nil for a Nop). ecn is the queue's ecn_mode; load reads memory.
func Expected(w *LongEntry, ecn uint8, keys KeyTable, sizes *nicspec.Build,
	load func(bus uint64, n int) []byte) ([]byte, nicspec.Status) {
	if w.Opcode == nicspec.OpcodeNop {
		return nil, nicspec.StatusOk
	}
	if IsCopy(w.Opcode) && sizes.Has(nicspec.PartCopy) {
		return nil, copyStatus(&w.WqeFields, keys, sizes)
	}
	if s := entryStatus(w, keys, sizes); s != nicspec.StatusOk {
		return nil, s
	}
	frame := append([]byte(nil), w.AllSlots()[:w.InlineLen]...)
	for _, s := range w.Segments() {
		k := keys[int(s.Key&0xffff)]
		frame = append(frame, load(k.BusBase+(s.Addr-k.VaBase), int(s.Len))...)
	}
	if w.FAppend {
		n := appended(&w.WqeFields, frame)
		if n == 0 {
			return nil, nicspec.StatusBadOffload
		}
		frame = append(frame, make([]byte, n)...)
	}
	markOut(&w.WqeFields, frame, ecn)
	if !offloads(&w.WqeFields, frame) {
		return nil, nicspec.StatusBadOffload
	}
	if w.FPad && len(frame) < nicspec.FrameMin {
		frame = append(frame, make([]byte, nicspec.FrameMin-len(frame))...)
	}
	return frame, nicspec.StatusOk
}

// LongEntry is a work entry with the slots of its further blocks, 64 B each [T14]. Slots that are left out are zero.
type LongEntry struct {
	nicspec.WqeFields
	More []byte
}

// One returns an entry of one block.
func One(w nicspec.WqeFields) LongEntry { return LongEntry{WqeFields: w} }

// BlocksOf returns the number of ring blocks that an entry takes.
func (w *LongEntry) BlocksOf(sizes *nicspec.Build) int {
	if !sizes.Has(nicspec.PartLong) {
		return 1
	}
	return 1 + int(w.Blocks)
}

// AllSlots returns the slots of all blocks that the entry names.
func (w *LongEntry) AllSlots() []byte {
	b := make([]byte, len(w.Slots)+int(w.Blocks)*nicspec.WqeBytes)
	copy(b, w.Slots[:])
	copy(b[len(w.Slots):], w.More)
	return b
}

// Segments returns the pieces of an entry, from its slots behind the inline bytes. The entry must have enough slots.
func (w *LongEntry) Segments() (all []nicspec.SegFields) {
	b := w.AllSlots()[InlineSlots(&w.WqeFields)*nicspec.WqeSlotBytes:]
	for i := range int(w.Nseg) {
		all = append(all, nicspec.DecodeSeg(b[i*nicspec.WqeSlotBytes:]))
	}
	return all
}

// appended returns the number of bytes that f_append adds to the gathered bytes [T15]; 0 if the headers do not allow
// it.
func appended(w *nicspec.WqeFields, b []byte) int {
	const padCount, icrc = 9, 4 // offset of the pad count from the UDP header; bytes of the ICRC
	if int(w.L4Off)+20 > min(len(b), nicspec.ParseBytes) {
		return 0
	}
	n := int(b[int(w.L4Off)+padCount]>>4&3) + icrc
	if int(w.L4Off)+int(BigEndian.Uint16(b[w.L4Off+4:])) != len(b)+n {
		return 0
	}
	return n
}

func InlineSlots(w *nicspec.WqeFields) int {
	return (int(w.InlineLen) + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes
}

// Segments returns the pieces of an entry of one block, from its slots behind the inline bytes. The entry must have
// enough slots.
func Segments(w *nicspec.WqeFields) []nicspec.SegFields {
	e := One(*w)
	return e.Segments()
}

// entryStatus returns the status that the checks of [T3] give an entry.
func entryStatus(w *LongEntry, keys KeyTable, sizes *nicspec.Build) nicspec.Status {
	if w.Opcode != nicspec.OpcodeSend {
		return nicspec.StatusBadOpcode
	}
	if badFlags(&w.WqeFields, sizes) || w.InlineLen > nicspec.InlineMaxLong || w.Nseg > nicspec.SegMax ||
		InlineSlots(&w.WqeFields)+int(w.Nseg) > 4*w.BlocksOf(sizes)-1 || int(w.Port) >= sizes.Ports {
		return nicspec.StatusBadFormat
	}
	total := uint64(w.InlineLen)
	for _, s := range w.Segments() {
		if s.Len == 0 || s.Key>>16&0xff != 0 {
			return nicspec.StatusBadFormat
		}
		total += uint64(s.Len)
	}
	least, most := uint64(nicspec.FrameMin), uint64(nicspec.FrameMax)
	if w.FAppend {
		least, most = least-4, most-nicspec.AppendMax
	}
	if total == 0 || total > most || total < least && !w.FPad {
		return nicspec.StatusBadLength
	}
	for _, s := range w.Segments() {
		k := keys[int(s.Key&0xffff)]
		if status := pieceStatus(&s, &k, sizes, true, false); status != nicspec.StatusOk {
			return status
		}
	}
	if w.FCrc32c && !sizes.Has(nicspec.PartCrc32c) {
		return nicspec.StatusBadOffload
	}
	return nicspec.StatusOk
}

// badFlags reports whether a Send has flags, or a number of blocks, that no Send of this build may have.
func badFlags(w *nicspec.WqeFields, sizes *nicspec.Build) bool {
	return w.FRsvd != 0 || w.FFence || w.FUdpCsum && w.FUdpZero || w.FAppend &&
		(!w.FIcrc || !sizes.Has(nicspec.PartAppend)) ||
		w.Blocks != 0 && !sizes.Has(nicspec.PartLong)
}

// pieceStatus checks a piece against its key, which must grant the given rights.
func pieceStatus(s *nicspec.SegFields, k *nicspec.KeyEntryFields, sizes *nicspec.Build, read,
	write bool) nicspec.Status {
	switch {
	case int(s.Key&0xffff) >= sizes.NumKeys, k.Valid != 1, k.Variant != uint8(s.Key>>24):
		return nicspec.StatusBadKey
	case read && !k.RightRead, write && !k.RightWrite:
		return nicspec.StatusKeyRights
	case s.Addr < k.VaBase, s.Addr-k.VaBase > k.Length, k.Length-(s.Addr-k.VaBase) < uint64(s.Len):
		return nicspec.StatusKeyBounds
	}
	return nicspec.StatusOk
}

// offloads applies [T7] and [T8] to the frame, or returns false if its headers do not allow them.
func offloads(w *nicspec.WqeFields, f []byte) bool {
	n, head := len(f), min(len(f), nicspec.ParseBytes)
	l3, l4 := int(w.L3Off), int(w.L4Off)
	version, ihl, u := -1, 0, 0
	if l3 < n {
		version, ihl = int(f[l3]>>4), 4*int(f[l3]&15)
	}
	if l4+6 <= n {
		u = int(BigEndian.Uint16(f[l4+4:]))
	}
	udp := l4+8 <= head
	ipOk := l3+20 <= n && version == 4 && ihl >= 20 && l3+ihl <= head
	addrOk := version == 4 && l3+20 <= head || version == 6 && l3+40 <= head
	csumOk := udp && addrOk && l3 < l4 && u >= 8 && l4+u <= n
	adjacent := version == 4 && ihl >= 20 && l4 == l3+ihl || version == 6 && l4 == l3+40
	icrcOk := adjacent && l4+20 <= head && u >= 24 && l4+u <= n
	if w.FIpCsum && !ipOk || w.FUdpCsum && !csumOk || w.FUdpZero && !udp || w.FIcrc && !icrcOk {
		return false
	}
	if w.FCrc32c && !putDigest(w, f) {
		return false
	}
	if w.FIcrc {
		p := parser{RxCqeFields: &nicspec.RxCqeFields{L3Type: nicspec.L3TypeIpv4}, b: f, l3: l3, l4: l4}
		if version == 6 {
			p.L3Type = nicspec.L3TypeIpv6
		}
		binary.LittleEndian.PutUint32(f[l4+u-4:], p.crc(l4+u-4))
	}
	if w.FUdpZero {
		BigEndian.PutUint16(f[l4+6:], 0)
	}
	if w.FUdpCsum {
		addrs := append([]byte(nil), f[l3+12:l3+20]...)
		if version == 6 {
			addrs = append([]byte(nil), f[l3+8:l3+40]...)
		}
		BigEndian.PutUint16(f[l4+6:], 0)
		sum := wire.PartialSum(0).Add(addrs).AddUint16(ProtoUDP).AddUint16(uint16(u)).Add(f[l4 : l4+u]).Checksum()
		if sum == 0 {
			sum = 0xffff
		}
		BigEndian.PutUint16(f[l4+6:], sum)
	}
	if w.FIpCsum {
		BigEndian.PutUint16(f[l3+10:], 0)
		BigEndian.PutUint16(f[l3+10:], wire.Checksum(f[l3:l3+ihl]))
	}
	return true
}
