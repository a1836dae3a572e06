package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExtLen compares the lengths of extension headers with a second table, written by length, as a
// header parser in hardware has it.
func TestExtLen(t *testing.T) {
	want := map[Opcode]int{}
	for n, ops := range map[int][]Opcode{
		4:  {0x03, 0x05, 0x09, 0x0d, 0x0f, 0x10, 0x11, 0x16, 0x17, 0x23, 0x25, 0x29},
		8:  {0x64},
		12: {0x12, 0x65},
		16: {0x06, 0x0a, 0x0c, 0x26, 0x2a, 0x81},
		20: {0x0b, 0x2b},
		28: {0x13, 0x14},
	} {
		for _, o := range ops {
			want[o] = n
		}
	}
	for o := range 256 {
		require.Equal(t, want[Opcode(o)], ExtLen(Opcode(o)), "%s", Opcode(o))
	}
}

func TestOpcodeRows(t *testing.T) {
	known := 0
	names := map[string]bool{}
	for o := range 256 {
		i := Opcode(o).Info()
		require.Equal(t, Transport(o>>5), i.Transport)
		if !i.Known {
			require.Equal(t, OpInfo{Transport: i.Transport}, i)
			continue
		}
		known++
		require.False(t, names[i.Name], i.Name)
		names[i.Name] = true
		off := BTHSize
		for _, h := range i.Ext {
			if h != HeaderNone {
				require.True(t, i.Has(h))
				require.Equal(t, off, i.Offset(h))
				off += h.Size()
			}
		}
		require.Equal(t, BTHSize+int(i.ExtLen), off)
		require.NotEqual(t, PosNone, i.Position)
		require.NotEqual(t, OpReserved, i.Operation)
	}
	require.Equal(t, 23+12+2+1, known)

	for _, tc := range []struct {
		op      Opcode
		name    string
		starts  bool
		ends    bool
		payload bool
	}{
		{0x00, "RC_SEND_FIRST", true, false, true},
		{0x01, "RC_SEND_MIDDLE", false, false, true},
		{0x09, "RC_WRITE_LAST_IMM", false, true, true},
		{0x0b, "RC_WRITE_ONLY_IMM", true, true, true},
		{0x0c, "RC_READ_REQUEST", true, true, false},
		{0x0e, "RC_READ_RESPONSE_MIDDLE", false, false, true},
		{0x11, "RC_ACK", true, true, false},
		{0x12, "RC_ATOMIC_ACK", true, true, false},
		{0x14, "RC_FETCH_ADD", true, true, false},
		{0x17, "RC_SEND_ONLY_INV", true, true, true},
		{0x2b, "UC_WRITE_ONLY_IMM", true, true, true},
		{0x65, "UD_SEND_ONLY_IMM", true, true, true},
		{0x81, "CNP", true, true, false},
		{0x15, "RC_0x15 (not supported)", false, false, false},
		{0x36, "UC_0x36 (not supported)", false, false, false},
		{0x44, "RD_0x44 (not supported)", false, false, false},
		{0xa4, "XRC_0xa4 (not supported)", false, false, false},
		{0xff, "manufacturer 7_0xff (not supported)", false, false, false},
	} {
		i := tc.op.Info()
		require.Equal(t, tc.name, tc.op.String())
		require.Equal(t, tc.starts, i.Position.Starts(), tc.name)
		require.Equal(t, tc.ends, i.Position.Ends(), tc.name)
		require.Equal(t, tc.payload, i.HasPayload, tc.name)
	}
	require.False(t, RCAck.Info().Has(HeaderRETH))
	require.Equal(t, 16, RCAtomicAck.Info().Offset(HeaderAtomicAckETH))
	require.Equal(t, -1, RCWriteFirst.Info().Offset(HeaderImmDt))
}

func TestEnumsOutOfRangeHaveNames(t *testing.T) {
	require.Equal(t, "Transport(9)", Transport(9).String())
	require.Equal(t, "Operation(99)", Operation(99).String())
	require.Equal(t, "Position(99)", Position(99).String())
	require.Equal(t, "Verdict(99)", Verdict(99).String())
	require.Equal(t, "reserved header", Header(99).String())
	require.Zero(t, Header(99).Size())
}

func TestSyndrome(t *testing.T) {
	for _, tc := range []struct {
		s    Syndrome
		kind SyndromeKind
		ps   int64
		text string
	}{
		{0x00, SyndromeACK, 0, "ACK credits 0"},
		{0x1f, SyndromeACK, 0, "ACK"},
		{0x20, SyndromeRNR, 655_360_000_000, "RNR NAK timer 0"},
		{0x21, SyndromeRNR, 10_000_000, "RNR NAK timer 1"},
		{0x32, SyndromeRNR, 5_120_000_000, ""},
		{0x3f, SyndromeRNR, 491_520_000_000, "RNR NAK timer 31"},
		{0x60, SyndromeNAK, 0, "NAK PSN sequence error"},
		{0x62, SyndromeNAK, 0, "NAK remote access error"},
		{0x7f, SyndromeNAK, 0, "reserved syndrome 0x7f"},
		{0x45, SyndromeReserved, 0, "reserved syndrome 0x45"},
		{0xa0, SyndromeReserved, 0, "reserved syndrome 0xa0"},
	} {
		require.Equal(t, tc.kind, tc.s.Kind(), tc.s)
		require.Equal(t, tc.ps, tc.s.RNRDelayPs(), tc.s)
		if tc.text != "" {
			require.Equal(t, tc.text, tc.s.String())
		}
	}
	require.Equal(t, Syndrome(0x32), RNRSyndrome(18))
	require.Equal(t, "RNR NAK timer 18", RNRSyndrome(18).String())
	// From code 4 on, every second code doubles the wait. Code 0, the longest, continues the series
	// after 31.
	us := func(code uint8) int64 { return RNRSyndrome(code).RNRDelayPs() / 1_000_000 }
	require.Equal(t, []int64{10, 20, 30}, []int64{us(1), us(2), us(3)})
	for code := uint8(4); code <= 32; code++ {
		require.Equal(t, 2*us(code-2), us(code%32), "code %d", code%32)
	}
}

func TestVerdictNames(t *testing.T) {
	var names []string
	for v := NotChecked; v <= Truncated; v++ {
		names = append(names, v.String())
	}
	require.Equal(t, []string{"not checked", "ok", "bad", "truncated"}, names)
}
