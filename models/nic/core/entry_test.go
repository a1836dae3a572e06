package core

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// TestLongEntryChecks: the checks of entries of several blocks and of appended trailers, and of
// builds without these parts [T3], [T14], [T15], [N1].
func TestLongEntryChecks(t *testing.T) {
	const all = nicspec.PartsAll
	good := nictest.Piece{Key: testKey, Addr: 1000, N: 100}
	some := func(n int) (p []nictest.Piece) {
		for range n {
			p = append(p, good)
		}
		return p
	}
	roce := func(w nicspec.Wqe) { w.SetFIcrc(true); w.SetFAppend(true) }
	with := func(f ...func(nicspec.Wqe)) func(nicspec.Wqe) {
		return func(w nicspec.Wqe) {
			for _, f := range f {
				f(w)
			}
		}
	}
	op := func(op nicspec.Opcode) func(nicspec.Wqe) { return func(w nicspec.Wqe) { w.SetOpcode(op) } }
	fence := func(w nicspec.Wqe) { w.SetFFence(true) }
	pad := func(w nicspec.Wqe) { w.SetFPad(true) }
	n := func(n int) []nictest.Piece { return []nictest.Piece{{Key: testKey, Addr: 1000, N: n}} }
	for _, c := range []struct {
		name   string
		parts  nicspec.Cap1Reg
		blocks int
		inline int
		pieces []nictest.Piece
		mod    func(nicspec.Wqe)
		want   nicspec.Status
	}{
		{"all slots are pieces", all, 3, 48, some(8), nil, nicspec.StatusOk},
		{"longest inline", all, 4, 176, some(4), nil, nicspec.StatusOk},
		{"inline in three blocks", all, 3, 176, nil, nil, nicspec.StatusOk},
		{"more blocks than needed", all, 4, 0, some(1), nil, nicspec.StatusOk},
		{"two blocks, seven slots", all, 2, 33, some(4), nil, nicspec.StatusOk},
		{"two blocks, eight slots", all, 2, 49, some(4), nil, nicspec.StatusBadFormat},
		{"three blocks, twelve slots", all, 3, 65, some(7), nil, nicspec.StatusBadFormat},
		{"four blocks, sixteen slots", all, 4, 113, some(8), nil, nicspec.StatusBadFormat},
		{"inline 177", all, 4, 176, some(1), func(w nicspec.Wqe) { w.SetInlineLen(177) }, nicspec.StatusBadFormat},
		{"nine pieces", all, 4, 0, some(9), nil, nicspec.StatusBadFormat},
		{"seventh piece", all, 3, 48, append(some(6), nictest.Piece{Key: 7, Addr: 0, N: 60}), nil,
			nicspec.StatusBadKey},
		{"eighth piece without bytes", all, 3, 48, append(some(7), nictest.Piece{Key: testKey, Addr: 1000}), nil,
			nicspec.StatusBadFormat},
		{"long, unknown opcode", all, 3, 0, some(1), op(99), nicspec.StatusBadOpcode},
		{"long Nop", all, 4, 0, nil, op(nicspec.OpcodeNop), nicspec.StatusOk},
		{"long copy", all, 2, 0, some(2), op(nicspec.OpcodeCopy), nicspec.StatusBadFormat},
		{"long invalidation", all, 2, 0, some(1), op(nicspec.OpcodeInvalidate), nicspec.StatusBadFormat},
		{"without part long", all &^ nicspec.PartLong, 2, 0, some(1), nil, nicspec.StatusBadFormat},
		{"Nop without part long", all &^ nicspec.PartLong, 2, 0, nil, op(nicspec.OpcodeNop), nicspec.StatusOk},
		{"opcode before blocks", all &^ nicspec.PartLong, 2, 0, some(1), op(99), nicspec.StatusBadOpcode},
		{"fence", all, 1, 0, some(1), fence, nicspec.StatusBadFormat},
		{"append", all, 1, 0, some(1), roce, nicspec.StatusOk},
		{"append without ICRC", all, 1, 0, some(1), func(w nicspec.Wqe) { w.SetFAppend(true) },
			nicspec.StatusBadFormat},
		{"append without its part", all &^ nicspec.PartAppend, 1, 0, some(1), roce, nicspec.StatusBadFormat},
		{"append to 9209", all, 1, 0, n(9209), roce, nicspec.StatusOk},
		{"append to 9210", all, 1, 0, n(9210), roce, nicspec.StatusBadLength},
		{"append to 56", all, 1, 0, n(56), roce, nicspec.StatusOk},
		{"append to 55", all, 1, 0, n(55), roce, nicspec.StatusBadLength},
		{"append to 1, pad", all, 1, 0, n(1), with(roce, pad), nicspec.StatusOk},
		{"append to nothing", all, 1, 0, nil, with(roce, pad), nicspec.StatusBadLength},
		{"reserved flag, highest", all, 1, 0, some(1), func(w nicspec.Wqe) { w.SetFRsvd(0x10) },
			nicspec.StatusBadFormat},
	} {
		raw := nictest.Blocks(c.blocks, 3, make([]byte, c.inline), c.pieces, c.mod)
		var p TxPlan
		DecodeWqe(raw, testKeys(), TxLimits{Ports: 1, Parts: c.parts}, &p)
		require.Equal(t, c.want, p.Status, c.name)
		require.EqualValues(t, 3, p.ID, c.name)
		blocks := c.blocks
		if c.parts&nicspec.PartLong == 0 {
			blocks = 1
		}
		require.Equal(t, blocks, p.Blocks, c.name)
	}
}

// naiveSend decodes a Send byte by byte as [T3] and [T14] say, for a build of two ports with all
// parts. It returns the status, and the source of each byte of the frame: a number below 256 is an
// inline byte, others are bus addresses.
func naiveSend(raw []byte, keys KeyTable) (s nicspec.Status, from []uint64) {
	type piece struct {
		key, n uint32
		at     uint64
	}
	nseg, inline, flags := int(raw[1]), int(raw[2]), binary.LittleEndian.Uint16(raw[4:])
	slots := 3 + 4*int(flags>>14)
	flag := func(bit int) bool { return flags>>bit&1 != 0 }
	if flags>>9&0x1f != 0 || flag(7) || flag(2) && flag(3) || flag(8) && !flag(4) || inline > 176 || nseg > 8 ||
		(inline+15)/16+nseg > slots || raw[3] > 1 {
		return nicspec.StatusBadFormat, nil
	}
	total, pieces := inline, []piece(nil)
	for i := range inline {
		from = append(from, uint64(raw[16+i]))
	}
	for i := range nseg {
		b := raw[16+16*((inline+15)/16+i):]
		p := piece{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:])}
		if p.n == 0 || p.key>>16&0xff != 0 {
			return nicspec.StatusBadFormat, nil
		}
		total += int(p.n)
		pieces = append(pieces, p)
	}
	extra, least := 0, 60
	if flag(8) {
		extra, least = 7, 56
	}
	if total == 0 || total > 9216-extra || total < least && !flag(6) {
		return nicspec.StatusBadLength, nil
	}
	for _, p := range pieces {
		i := int(p.key & 0xffff)
		switch {
		case i >= len(keys) || !keys[i].Valid || uint32(keys[i].Variant) != p.key>>24:
			return nicspec.StatusBadKey, nil
		case !keys[i].Read:
			return nicspec.StatusKeyRights, nil
		case p.at < keys[i].VABase || p.at-keys[i].VABase > keys[i].Length ||
			uint64(p.n) > keys[i].Length-(p.at-keys[i].VABase):
			return nicspec.StatusKeyBounds, nil
		}
		for k := range uint64(p.n) {
			from = append(from, keys[i].BusBase+(p.at-keys[i].VABase)+k)
		}
	}
	return nicspec.StatusOk, from
}

// TestAnyEntry: DecodeWqe decodes random entries of one to four blocks as naiveSend does.
func TestAnyEntry(t *testing.T) {
	seen := map[nicspec.Status]int{}
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.IntRange(1, 4).Draw(t, "blocks")
		slots := 4*blocks - 1
		inline := rapid.IntRange(0, min(16*slots, 178)).Draw(t, "inline")
		var pieces []nictest.Piece
		for range rapid.IntRange(0, min(9, slots+1-(inline+15)/16)).Draw(t, "pieces") {
			p := nictest.Piece{Key: testKey, Addr: 1000 + uint64(rapid.IntRange(0, 5000).Draw(t, "at")),
				N: rapid.IntRange(1, 1400).Draw(t, "n")}
			switch rapid.IntRange(0, 40).Draw(t, "odd") {
			case 0:
				p.Key = rapid.SampledFrom([]uint32{6 | 1<<24, 7, 8, 300, testKey | 1<<16}).Draw(t, "key")
			case 1:
				p.N = rapid.SampledFrom([]int{0, 9000, 9216, 9300, 1<<32 - 1}).Draw(t, "n")
			case 2:
				p.Addr = rapid.Uint64().Draw(t, "at")
			}
			pieces = append(pieces, p)
		}
		raw := nictest.Blocks(blocks, 7, nictest.Pattern(inline, 5), pieces, func(w nicspec.Wqe) {
			w.SetFPad(rapid.Bool().Draw(t, "pad"))
			w.SetFIcrc(rapid.IntRange(0, 3).Draw(t, "icrc") > 0)
			w.SetFAppend(rapid.Bool().Draw(t, "append"))
			w.SetPort(uint8(rapid.IntRange(0, 20).Draw(t, "port") / 10))
			if rapid.IntRange(0, 30).Draw(t, "flags") == 0 {
				w.SetFRsvd(rapid.Uint8().Draw(t, "reserved"))
				w.SetFFence(rapid.Bool().Draw(t, "fence"))
				w.SetFUdpCsum(true)
				w.SetFUdpZero(rapid.Bool().Draw(t, "zero"))
			}
		})
		var p TxPlan
		DecodeWqe(raw, testKeys(), TxLimits{Ports: 2, Parts: nicspec.PartsAll}, &p)
		want, from := naiveSend(raw, testKeys())
		seen[want]++
		require.Equal(t, want, p.Status)
		require.Equal(t, blocks, p.Blocks)
		if want != nicspec.StatusOk {
			require.False(t, p.Send)
			return
		}
		require.Equal(t, len(from), p.Length)
		for i, w := range from {
			if s := p.PieceOf(i); s != nil {
				require.Equal(t, w, s.Bus+uint64(i-s.Off))
			} else {
				require.Equal(t, w, uint64(p.Inline[i]))
			}
		}
	})
	for _, s := range []nicspec.Status{nicspec.StatusOk, nicspec.StatusBadFormat, nicspec.StatusBadLength,
		nicspec.StatusBadKey, nicspec.StatusKeyBounds} {
		require.NotZero(t, seen[s], s)
	}
}

// TestAppendIsLikeATrailer: f_append has the effect of a trailer of zeros laid out by software, but
// the lengths in the headers must fit [T15].
func TestAppendIsLikeATrailer(t *testing.T) {
	ok, bad := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		pad := rapid.IntRange(0, 3).Draw(t, "pad")
		payload := rapid.IntRange(0, 300).Draw(t, "payload")
		f := nictest.RoceFrame(payload + pad)
		f[14+20+9] = f[14+20+9]&^0x30 | uint8(pad)<<4
		f[15] = rapid.Uint8().Draw(t, "tos")
		if rapid.IntRange(0, 4).Draw(t, "wrong") == 0 {
			at := rapid.SampledFrom([]int{14, 38, 39, 43}).Draw(t, "byte") // version, UDP length, pad count
			f[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		g := len(f) - pad - 4 - rapid.SampledFrom([]int{0, 0, 0, 0, 1, 4, -1}).Draw(t, "off")
		g = max(min(g, len(f)), 1)
		p := TxPlan{Length: g, ICRC: true, Append: true, Pad: true, IPCsum: rapid.Bool().Draw(t, "ip"),
			UDPCsum: rapid.Bool().Draw(t, "udp"),
			L3Off:   14, L4Off: 34, ECN: uint8(rapid.IntRange(0, 3).Draw(t, "ecn"))}
		if rapid.Bool().Draw(t, "crc") {
			p.CRC32C, p.CrcStart, p.CrcOff = true, 54+rapid.IntRange(0, 8).Draw(t, "start"),
				54+rapid.IntRange(0, 40).Draw(t, "at")
		}
		require.LessOrEqual(t, max(g+7, 60), p.Room())
		frame := append(make([]byte, 0, p.Room()), f[:g]...)
		for i := range p.Room() - g {
			frame[:p.Room()][g+i] = 0xee // the trailer must not depend on the buffer's earlier contents
		}
		got, status := FinishTx(&p, frame)
		said := 0
		if g >= 54 {
			said = int(f[43] >> 4 & 3)
		}
		like := p
		like.Append, like.Length = false, g+said+4
		zeros := append(append(make([]byte, 0, like.Room()), f[:g]...), make([]byte, said+4)...)
		if g < 54 || 34+int(binary.BigEndian.Uint16(f[38:])) != like.Length {
			require.Equal(t, nicspec.StatusBadOffload, status)
			bad++
			return
		}
		want, wants := FinishTx(&like, zeros)
		require.Equal(t, wants, status)
		require.Equal(t, want, got)
		if status == nicspec.StatusOk {
			ok++
			require.Equal(t, wire.OK, wire.VerifyFrameICRC(got).Verdict)
		}
	})
	require.True(t, ok > 10 && bad > 3, "%d and %d", ok, bad)
}

// TestTrimPlaces checks which bytes of random frames are written to the buffers of a queue with `trim` set [R14].
func TestTrimPlaces(t *testing.T) {
	trims, whole := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.IntRange(0, 200).Draw(t, "payload")
		f := append(nictest.RoceFrame(payload), make([]byte, rapid.IntRange(0, 10).Draw(t, "behind"))...)
		f = append(f, make([]byte, max(0, 60-len(f)))...)
		f[42] = rapid.SampledFrom([]uint8{4, 6, 0x0b, 0x64, 0x12}).Draw(t, "opcode")
		f[43] = rapid.Uint8().Draw(t, "flags")
		if rapid.IntRange(0, 3).Draw(t, "change") == 0 {
			at := rapid.SampledFrom([]int{20, 23, 37, 38, 39}).Draw(t, "byte") // fragment, protocol, port, UDP length
			f[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		var h Headers
		Parse(f, 4791, &h)
		q := Queue{State: nicspec.QueueStateRun, Trim: 1, HasPayLen: true, PayBufSize: 1000, HdrBufSize: 64,
			SplitMode: nicspec.SplitMode(rapid.IntRange(0, 2).Draw(t, "mode")),
			SplitLen:  uint16(rapid.IntRange(0, 100).Draw(t, "split"))}
		v := RxVerdict{Headers: h}
		m := len(f)
		if end := 34 + int(binary.BigEndian.Uint16(f[38:])) - 4 - int(f[43]>>4&3); h.Roce && !h.Frag && !h.L4LenBad &&
			end-34 >= 24-4-int(f[43]>>4&3) && end >= int(h.PayloadOff) {
			m = end
			trims++
		} else {
			whole++
		}
		hdr, pay := q.Split(&v, len(f))
		require.Equal(t, m, hdr+pay)
		q.PayBufSize = uint16(max(pay, 1))
		require.Equal(t, NoDrop, q.Admit(&v, len(f)), "the limit is what is placed [R8]")
		var p RxPlan
		PlanRx(&q, &v, len(f), &RxSlot{}, &p)
		e := nicspec.RxCqe(p.Cqe[:])
		require.Equal(t, [...]int{len(f), hdr, pay}, [...]int{int(e.FrameLen()), int(e.HdrLen()), int(e.PayLen())})
		q.Trim = 0
		hdr, pay = q.Split(&v, len(f))
		require.Equal(t, len(f), hdr+pay)
		q.HasPayLen = false // a build without the part
		PlanRx(&q, &v, len(f), &RxSlot{}, &p)
		require.Zero(t, nicspec.RxCqe(p.Cqe[:]).PayLen())
	})
	require.True(t, trims > 10 && whole > 10, "%d and %d", trims, whole)
}

// TestTrimOfTable: a queue entry may set trim to 0 or 1, and only in a build with the part [Q6],
// [N2].
func TestTrimOfTable(t *testing.T) {
	for _, c := range []struct {
		parts  nicspec.Cap1Reg
		enable uint8
		trim   uint8
		want   nicspec.TableStatus
		reads  uint8
	}{
		{nicspec.PartTrim, 1, 1, nicspec.TableStatusOk, 1},
		{nicspec.PartTrim, 1, 0, nicspec.TableStatusOk, 0},
		{nicspec.PartTrim, 1, 2, nicspec.TableStatusBadValue, 0},
		{nicspec.PartTrim, 0, 200, nicspec.TableStatusOk, 200},
		{0, 1, 1, nicspec.TableStatusNotBuilt, 0},
		{0, 1, 2, nicspec.TableStatusNotBuilt, 0},
		{0, 0, 1, nicspec.TableStatusOk, 0},
	} {
		s := plainSpec()
		s.Parts = c.parts
		r := NewRegs(s)
		f := nicspec.RxqEntryFields{Enable: c.enable, LogSize: 4, PayBufSize: 9, Trim: c.trim}
		b := make([]byte, nicspec.RxqEntrySize)
		f.Encode(b)
		e := r.commit(nicspec.TableRxq, 2, b)
		require.Equal(t, c.want, e.Status, "%+v", c)
		r.Write32(nicspec.RegTblCmd, cmd(nicspec.TableOpRead, nicspec.TableRxq, 2))
		staged := r.staged()
		require.Equal(t, c.reads, nicspec.RxqEntry(staged[:]).Trim(), "%+v", c)
	}
}
