package core

import (
	"encoding/binary"
	"encoding/hex"

	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// crc32cVectors are the test vectors of RFC 3720, B.4: data, and the digest in transmission order.
var crc32cVectors = []struct{ data, digest string }{
	{"0000000000000000000000000000000000000000000000000000000000000000", "aa36918a"},
	{"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "43aba862"},
	{"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "4e79dd46"},
	{"1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100", "5cdb3f11"},
	{"01c00000000000000000000000000000140000000000040000000014000000182800000000000000" +
		"0200000000000000", "563a96d9"},
}

// udpWith returns a UDP frame with a destination port, a payload, and bytes after the datagram.
func udpWith(port uint16, payload, after []byte) []byte {
	f := append(make([]byte, 12), 8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 9, 17, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 0, 0,
		0, 0, 0)
	binary.BigEndian.PutUint16(f[16:], uint16(28+len(payload)))
	binary.BigEndian.PutUint16(f[36:], port)
	binary.BigEndian.PutUint16(f[38:], uint16(8+len(payload)))
	return append(append(f, payload...), after...)
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

func TestReceiveCRC32COfRFC3720(t *testing.T) {
	c := Config{RxEnable: true, CRC32C: true, DropCRC32C: true, DefaultAction: nicspec.ActionQueue, RocePort: 4791}
	for _, x := range crc32cVectors {
		data, digest := unhex(t, x.data), unhex(t, x.digest)
		frame := udpWith(7, append(append([]byte(nil), data...), digest...), []byte{1, 2, 3})
		var v RxVerdict
		c.Classify(0, frame, &v)
		require.Equal(t, nicspec.VerdictOk, v.CrcVerdict)
		require.EqualValues(t, nicspec.Crc32cResidue, v.Crc)
		require.False(t, v.DropCrc)

		frame[45] ^= 1
		c.Classify(0, frame, &v)
		require.Equal(t, nicspec.VerdictBad, v.CrcVerdict)
		require.True(t, v.DropCrc)

		c.Classify(0, udpWith(7, data, make([]byte, 20)), &v)
		require.Equal(t, binary.LittleEndian.Uint32(digest), v.Crc, "as a report tells")
	}
}

func TestCRC32CRange(t *testing.T) {
	payload := nictest.Pattern(40, 1)
	change := func(f []byte, at int, b ...byte) []byte {
		copy(f[at:], b)
		return f
	}
	roce := change(udpWith(4791, payload, nil), 42, 4) // RC SEND Only: no extension headers
	reth := change(udpWith(4791, payload[:20], nil), 42, 10)
	tcp := func(off byte) []byte { return change(udpWith(7, payload, nil), 23, 6, 46, off<<4) }
	tcp8 := change(tcp(0), 46, 8<<4)
	for _, x := range []struct {
		name     string
		frame    []byte
		from, to int
	}{
		{"UDP", udpWith(7, payload, []byte{1, 2}), 42, 82},
		{"UDP that is too long", change(udpWith(7, payload, []byte{1, 2}), 38, 1), 42, 84},
		{"UDP without payload", udpWith(7, nil, payload), 42, 42},
		{"RoCE", roce, 54, 78},
		{"RoCE that is too long", change(append([]byte(nil), roce...), 38, 1), 54, 82},
		{"RoCE whose headers are cut", reth[:60], 0, 0},
		{"fragment", change(udpWith(7, payload, nil), 20, 0x20), 0, 0},
		{"TCP", change(tcp(0), 46, 5<<4), 54, 82},
		{"TCP options", tcp8, 66, 82},
		{"TCP cut", change(tcp(0), 46, 15<<4), 0, 0},
		{"TCP of no length", tcp(0), 54, 82},
		{"other IP", change(udpWith(7, payload, []byte{1, 2}), 23, 99), 34, 82},
		{"other IP that is too long", change(udpWith(7, payload, []byte{1, 2}), 16, 1, 0), 34, 84},
		{"no IP", change(udpWith(7, payload, nil), 12, 9, 9), 14, 82},
	} {
		if x.name == "other IP that is too long" {
			x.frame[23] = 99
		}
		var h Headers
		Parse(x.frame, 4791, &h)
		from, to := h.CRC32CRange()
		require.Equal(t, [2]int{x.from, x.to}, [2]int{from, to}, x.name)
	}
}

func TestCRC32CModes(t *testing.T) {
	v := RxVerdict{Crc: 5, CrcVerdict: nicspec.VerdictBad, DropCrc: true}
	for mode, want := range [...]struct {
		value   uint32
		verdict nicspec.Verdict
		drop    nicspec.PortCounter
	}{{0, 0, NoDrop}, {5, 0, NoDrop}, {5, nicspec.VerdictBad, nicspec.CntRxDropCrc32c}} {
		q := Queue{State: nicspec.QueueStateRun, PayBufSize: 100, CrcMode: nicspec.CrcMode(mode)}
		var e [nicspec.CqeBytes]byte
		q.fillCRC32C(&v, e[:])
		require.Equal(t, want.value, nicspec.RxCqe(e[:]).Crc32cValue())
		require.Equal(t, want.verdict, nicspec.RxCqe(e[:]).Crc32c())
		require.Equal(t, want.drop, q.Admit(&v, 90))
		require.NotEqual(t, NoDrop, q.Admit(&v, 101))
	}
}
