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

const testKey = 5 | 0x5a<<24

func testKeys() KeyTable {
	keys := make(KeyTable, 256)
	keys[5] = Key{Valid: true, Read: true, Variant: 0x5a, VABase: 1000, Length: 10000, BusBase: 1 << 56}
	keys[6] = Key{Valid: true, Write: true, Variant: 1, Length: 10000}
	keys[7] = Key{Read: true, Length: 10000}
	keys[8] = Key{Valid: true, Read: true, VABase: 1<<64 - 100, Length: 100}
	return keys
}

func TestWorkEntryChecks(t *testing.T) {
	good := nictest.Piece{Key: testKey, Addr: 1000, N: 100}
	for _, c := range []struct {
		name   string
		inline int
		pieces []nictest.Piece
		mod    func(nicspec.Wqe)
		want   nicspec.Status
	}{
		{"good", 0, []nictest.Piece{good}, nil, nicspec.StatusOk},
		{"inline only", 48, nil, func(w nicspec.Wqe) { w.SetFPad(true) }, nicspec.StatusOk},
		{"three pieces", 0, []nictest.Piece{good, good, good}, nil, nicspec.StatusOk},
		{"copy", 0, []nictest.Piece{good, good}, func(w nicspec.Wqe) { w.SetOpcode(nicspec.OpcodeCopy) },
			nicspec.StatusBadOpcode},
		{"unknown opcode", 0, nil, func(w nicspec.Wqe) { w.SetOpcode(200) }, nicspec.StatusBadOpcode},
		{"nop is not looked at", 0, nil, func(w nicspec.Wqe) { w.SetOpcode(0); w.SetNseg(9); w.SetFRsvd(1) },
			nicspec.StatusOk},
		{"reserved flag", 0, []nictest.Piece{good}, func(w nicspec.Wqe) { w.SetFRsvd(0x10) }, nicspec.StatusBadFormat},
		{"csum and zero", 0, []nictest.Piece{good}, func(w nicspec.Wqe) { w.SetFUdpCsum(true); w.SetFUdpZero(true) },
			nicspec.StatusBadFormat},
		{"inline 49", 0, []nictest.Piece{good}, func(w nicspec.Wqe) { w.SetInlineLen(49) }, nicspec.StatusBadFormat},
		{"nseg 4", 0, []nictest.Piece{good}, func(w nicspec.Wqe) { w.SetNseg(4) }, nicspec.StatusBadFormat},
		{"slots", 17, []nictest.Piece{good, good}, nil, nicspec.StatusBadFormat},
		{"port", 0, []nictest.Piece{good}, func(w nicspec.Wqe) { w.SetPort(1) }, nicspec.StatusBadFormat},
		{"empty piece", 0, []nictest.Piece{good, {Key: testKey, Addr: 1000, N: 0}}, nil, nicspec.StatusBadFormat},
		{"key reserved", 0, []nictest.Piece{{Key: testKey | 1<<20, Addr: 1000, N: 100}}, nil, nicspec.StatusBadFormat},
		{"format before key", 0, []nictest.Piece{{Key: 9, Addr: 0, N: 100}, {Key: testKey, Addr: 0, N: 0}}, nil,
			nicspec.StatusBadFormat},
		{"no bytes", 0, nil, func(w nicspec.Wqe) { w.SetFPad(true) }, nicspec.StatusBadLength},
		{"59 bytes", 0, []nictest.Piece{{Key: testKey, Addr: 1000, N: 59}}, nil, nicspec.StatusBadLength},
		{"9217 bytes", 1, []nictest.Piece{{Key: testKey, Addr: 1000, N: 9216}}, nil, nicspec.StatusBadLength},
		{"4 GB", 0, []nictest.Piece{{Key: testKey, Addr: 1000, N: 1<<32 - 1}, {Key: testKey, Addr: 1000, N: 61}}, nil,
			nicspec.StatusBadLength},
		{"length before key", 0, []nictest.Piece{{Key: 9, Addr: 1000, N: 59}}, nil, nicspec.StatusBadLength},
		{"key not valid", 0, []nictest.Piece{{Key: 7, Addr: 1000, N: 60}}, nil, nicspec.StatusBadKey},
		{"key beyond", 0, []nictest.Piece{{Key: 256, Addr: 1000, N: 60}}, nil, nicspec.StatusBadKey},
		{"variant", 0, []nictest.Piece{{Key: 5, Addr: 1000, N: 60}}, nil, nicspec.StatusBadKey},
		{"rights", 0, []nictest.Piece{{Key: 6 | 1<<24, Addr: 20000, N: 60}}, nil, nicspec.StatusKeyRights},
		{"below", 0, []nictest.Piece{{Key: testKey, Addr: 999, N: 60}}, nil, nicspec.StatusKeyBounds},
		{"beyond", 0, []nictest.Piece{{Key: testKey, Addr: 10941, N: 60}}, nil, nicspec.StatusKeyBounds},
		{"last byte", 0, []nictest.Piece{{Key: testKey, Addr: 10940, N: 60}}, nil, nicspec.StatusOk},
		{"end of space", 0, []nictest.Piece{{Key: 8, Addr: 1<<64 - 60, N: 60}}, nil, nicspec.StatusOk},
		{"wraps", 0, []nictest.Piece{{Key: 8, Addr: 1<<64 - 60, N: 61}}, nil, nicspec.StatusKeyBounds},
		{"first piece's status", 0, []nictest.Piece{{Key: 6 | 1<<24, Addr: 0, N: 60}, {Key: 7, Addr: 0, N: 60}}, nil,
			nicspec.StatusKeyRights},
		{"crc32c", 0, []nictest.Piece{good}, func(w nicspec.Wqe) { w.SetFCrc32c(true) }, nicspec.StatusBadOffload},
		{"key before crc32c", 0, []nictest.Piece{{Key: 7, Addr: 0, N: 60}}, func(w nicspec.Wqe) { w.SetFCrc32c(true) },
			nicspec.StatusBadKey},
	} {
		raw := [64]byte(nictest.Wqe(3, make([]byte, c.inline), c.pieces, c.mod))
		var p TxPlan
		DecodeWqe(raw[:], testKeys(), TxLimits{Ports: 1}, &p)
		require.Equal(t, c.want, p.Status, c.name)
		require.EqualValues(t, 3, p.ID, c.name)
		require.Equal(t, c.want == nicspec.StatusOk && raw[0] == uint8(nicspec.OpcodeSend), p.Send, c.name)
	}
}

// TestGatherSplits: a frame is gathered whole, however it is split into inline bytes and pieces.
func TestGatherSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9216).Draw(t, "n")
		frame := nictest.Pattern(n, 1)
		inline := rapid.IntRange(0, min(n, 48)).Draw(t, "inline")
		room := 3 - (inline+15)/16
		var cuts []nictest.Piece
		for at := inline; at < n; {
			if room == 0 {
				inline, at, room, cuts = 0, 0, 3, nil
				continue
			}
			k := n - at
			if room > 1 {
				k = rapid.IntRange(1, n-at).Draw(t, "cut")
			}
			cuts = append(cuts, nictest.Piece{Key: testKey, Addr: 1000 + uint64(at), N: k})
			at += k
			room--
		}
		raw := [64]byte(nictest.Wqe(0, frame[:inline], cuts, func(w nicspec.Wqe) { w.SetFPad(true) }))
		var p TxPlan
		DecodeWqe(raw[:], testKeys(), TxLimits{Ports: 1}, &p)
		require.Equal(t, nicspec.StatusOk, p.Status)
		require.Equal(t, n, p.Length)
		got := make([]byte, n, 9216)
		copy(got, p.Inline[:p.InlineLen])
		for i := range n {
			s := p.PieceOf(i)
			require.Equal(t, i < inline, s == nil)
			if s != nil {
				got[i] = frame[s.Bus-1<<56+uint64(i-s.Off)]
			}
		}
		out, status := FinishTx(&p, got)
		require.Equal(t, nicspec.StatusOk, status)
		require.Equal(t, append(append([]byte(nil), frame...), make([]byte, max(60-n, 0))...), out)
	})
}

func TestOffloadConditions(t *testing.T) {
	all := TxPlan{IPCsum: true, UDPCsum: true, ICRC: true, L3Off: 14, L4Off: 34}
	for _, c := range []struct {
		name string
		plan TxPlan
		mod  func(f []byte) []byte
		want bool
	}{
		{"all", all, nil, true},
		{"IHL 4", TxPlan{IPCsum: true, L3Off: 14}, func(f []byte) []byte { f[14] = 0x44; return f }, false},
		{"IPv6 has no checksum", TxPlan{IPCsum: true, L3Off: 14}, func(f []byte) []byte { f[14] = 0x65; return f },
			false},
		{"IP header at 108", TxPlan{IPCsum: true, L3Off: 108}, func(f []byte) []byte { f[108] = 0x45; return f }, true},
		{"IP header at 109", TxPlan{IPCsum: true, L3Off: 109}, func(f []byte) []byte { f[109] = 0x45; return f },
			false},
		{"IP header past the end", TxPlan{IPCsum: true, L3Off: 50},
			func(f []byte) []byte { f[50] = 0x45; return f[:69] }, false},
		{"zero at 120", TxPlan{UDPZero: true, L4Off: 120}, nil, true},
		{"zero at 121", TxPlan{UDPZero: true, L4Off: 121}, nil, false},
		{"zero past the end", TxPlan{UDPZero: true, L4Off: 62}, func(f []byte) []byte { return f[:69] }, false},
		{"UDP before IP", TxPlan{UDPCsum: true, L3Off: 34, L4Off: 34}, func(f []byte) []byte { f[34] = 0x45; return f },
			false},
		{"UDP length 7", TxPlan{UDPCsum: true, L3Off: 14, L4Off: 34},
			func(f []byte) []byte { f[38], f[39] = 0, 7; return f }, false},
		{"UDP length 8", TxPlan{UDPCsum: true, L3Off: 14, L4Off: 34},
			func(f []byte) []byte { f[38], f[39] = 0, 8; return f }, true},
		{"UDP past the end", TxPlan{UDPCsum: true, L3Off: 14, L4Off: 34}, func(f []byte) []byte { return f[:len(f)-1] },
			false},
		{"version 5", TxPlan{UDPCsum: true, L3Off: 14, L4Off: 34}, func(f []byte) []byte { f[14] = 0x55; return f },
			false},
		{"ICRC with gap", TxPlan{ICRC: true, L3Off: 14, L4Off: 38}, nil, false},
		{"ICRC UDP length 23", TxPlan{ICRC: true, L3Off: 14, L4Off: 34},
			func(f []byte) []byte { f[38], f[39] = 0, 23; return f }, false},
		{"ICRC UDP length 24", TxPlan{ICRC: true, L3Off: 14, L4Off: 34},
			func(f []byte) []byte { f[38], f[39] = 0, 24; return f }, true},
		{"ICRC version 6", TxPlan{ICRC: true, L3Off: 14, L4Off: 34}, func(f []byte) []byte { f[14] = 0x65; return f },
			false},
	} {
		f := nictest.RoceFrame(100)
		if c.mod != nil {
			f = c.mod(f)
		}
		before := append([]byte(nil), f...)
		p := c.plan
		p.Length = len(f)
		out, s := FinishTx(&p, f)
		require.Equal(t, c.want, s == nicspec.StatusOk, c.name)
		if s != nicspec.StatusOk {
			require.Equal(t, nicspec.StatusBadOffload, s, c.name)
			require.Nil(t, out)
			require.Equal(t, before, f, c.name)
		}
	}
}

// TestOffloadsAreRight: gopacket and package wire accept the checksums that offloads insert into
// random frames.
func TestOffloadsAreRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawFrame(t)
		if b.l4 != 17 {
			return
		}
		want := append([]byte(nil), b.frame...)
		var h Headers
		Parse(b.frame, 0, &h)
		p := TxPlan{Length: len(b.frame), IPCsum: !b.v6, UDPCsum: true, L3Off: int(h.L3Off), L4Off: int(h.L4Off)}
		binary.BigEndian.PutUint16(b.frame[p.L4Off+6:], rapid.Uint16().Draw(t, "garbage"))
		if !b.v6 {
			binary.BigEndian.PutUint16(b.frame[p.L3Off+10:], rapid.Uint16().Draw(t, "garbage"))
		}
		got, s := FinishTx(&p, b.frame)
		require.Equal(t, nicspec.StatusOk, s)
		require.Equal(t, want, got)
	})
}

// TestZeroSumIsSentAsOnes: a UDP checksum of 0 is sent as all ones. The payload contains the two
// bytes that make the sum 0: the sum of the frame without them (RFC 768, RFC 1071).
func TestZeroSumIsSentAsOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawFrame(t)
		if b.l4 != 17 {
			return
		}
		var h Headers
		Parse(b.frame, 0, &h)
		p := TxPlan{Length: len(b.frame), UDPCsum: true, L3Off: int(h.L3Off), L4Off: int(h.L4Off)}
		fill := b.frame[b.hdrEnd : b.hdrEnd+2]
		clear(fill)
		got, s := FinishTx(&p, b.frame)
		require.Equal(t, nicspec.StatusOk, s)
		copy(fill, got[p.L4Off+6:p.L4Off+8])
		got, s = FinishTx(&p, b.frame)
		require.Equal(t, nicspec.StatusOk, s)
		require.Equal(t, []byte{0xff, 0xff}, got[p.L4Off+6:p.L4Off+8])
	})
}

func TestICRCThenChecksums(t *testing.T) {
	f := nictest.RoceFrame(33)
	p := TxPlan{Length: len(f), IPCsum: true, UDPZero: true, ICRC: true, L3Off: 14, L4Off: 34}
	f[40], f[41] = 9, 9
	got, s := FinishTx(&p, f)
	require.Equal(t, nicspec.StatusOk, s)
	require.Equal(t, wire.OK, wire.VerifyFrameICRC(got).Verdict)
	require.Equal(t, []byte{0, 0}, got[40:42])
	var v RxVerdict
	(&Config{RxEnable: true, RocePort: 4791}).Classify(0, got, &v)
	require.Equal(t, [...]nicspec.Verdict{nicspec.VerdictOk, nicspec.VerdictNotChecked, nicspec.VerdictOk},
		[...]nicspec.Verdict{v.IPCsum, v.L4Csum, v.ICRC})
}

func FuzzWorkEntry(f *testing.F) {
	f.Add(nictest.Entry(2, nictest.RoceFrame(100)[:154],
		[]nictest.Piece{{Key: testKey, Addr: 1000, N: 1}, {Key: testKey, Addr: 1000, N: 1}}, func(w nicspec.Wqe) {
			w.SetFIcrc(true)
			w.SetFAppend(true)
			w.SetL3Off(14)
			w.SetL4Off(34)
		}), nictest.RoceFrame(102))
	f.Add(nictest.Wqe(1, []byte("abc"), []nictest.Piece{{Key: testKey, Addr: 1000, N: 100}}, nil),
		nictest.RoceFrame(100))
	f.Fuzz(func(t *testing.T, entry, memory []byte) {
		var raw [nicspec.WqeBlocksMax * nicspec.WqeBytes]byte
		copy(raw[:], entry)
		var p TxPlan
		DecodeWqe(raw[:], testKeys(), TxLimits{Ports: 2, Parts: nicspec.PartsAll}, &p)
		p.ECN = raw[63] & 3
		if !p.Send {
			return
		}
		frame := make([]byte, p.Length, p.Room())
		copy(frame, memory)
		out, s := FinishTx(&p, frame)
		if s == nicspec.StatusOk && len(out) < nicspec.FrameMin {
			t.Fatalf("a frame of %d B", len(out))
		}
	})
}
