package core

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// TestTransmitCRC32COfRFC3720: the device inserts the digests of RFC 3720's vectors, after the data
// and before it [X1].
func TestTransmitCRC32COfRFC3720(t *testing.T) {
	for _, v := range crc32cVectors {
		data, err := hex.DecodeString(v.data)
		require.NoError(t, err)
		after := append(append(nictest.Pattern(20, 1), data...), 0xaa, 0xaa, 0xaa, 0xaa, 0xbb)
		p := TxPlan{Length: len(after), CRC32C: true, CrcStart: 20, CrcOff: 20 + len(data)}
		got, s := FinishTx(&p, append([]byte(nil), after...))
		require.Equal(t, nicspec.StatusOk, s)
		require.Equal(t, v.digest, hex.EncodeToString(got[p.CrcOff:p.CrcOff+4]))
		copy(after[p.CrcOff:], got[p.CrcOff:p.CrcOff+4])
		require.Equal(t, after, got)

		before := append(nictest.Pattern(24, 1), data...)
		p = TxPlan{Length: len(before), CRC32C: true, CrcStart: 24, CrcOff: 9}
		got, s = FinishTx(&p, append([]byte(nil), before...))
		require.Equal(t, nicspec.StatusOk, s)
		require.Equal(t, v.digest, hex.EncodeToString(got[9:13]))
	}
}

func TestCRC32CConditions(t *testing.T) {
	const n = 14 + 20 + 8 + 12 + 100 + 4 // nictest.RoceFrame(100)
	for _, c := range []struct {
		name string
		plan TxPlan
		want bool
	}{
		{"at the end", TxPlan{CrcStart: 0, CrcOff: n - 4}, true},
		{"over the end", TxPlan{CrcStart: 0, CrcOff: n - 3}, false},
		{"equal", TxPlan{CrcStart: 60, CrcOff: 60}, false},
		{"one byte", TxPlan{CrcStart: 60, CrcOff: 61}, true},
		{"before, touching", TxPlan{CrcStart: 64, CrcOff: 60}, true},
		{"before, overlapping", TxPlan{CrcStart: 63, CrcOff: 60}, false},
		{"before, last byte", TxPlan{CrcStart: n - 1, CrcOff: 60}, true},
		{"before, nothing", TxPlan{CrcStart: n, CrcOff: 60}, false},
		{"far away", TxPlan{CrcStart: 65535, CrcOff: 65534}, false},
		{"before the ICRC", TxPlan{ICRC: true, CrcStart: 54, CrcOff: n - 8}, true},
		{"into the ICRC", TxPlan{ICRC: true, CrcStart: 54, CrcOff: n - 7}, false},
		{"start at the ICRC", TxPlan{ICRC: true, CrcStart: n - 4, CrcOff: 54}, false},
		{"in the BTH", TxPlan{ICRC: true, CrcStart: 60, CrcOff: 53}, false},
		{"after the BTH", TxPlan{ICRC: true, CrcStart: 60, CrcOff: 54}, true},
		{"in the IP header", TxPlan{IPCsum: true, CrcStart: 60, CrcOff: 33}, false},
		{"after the IP header", TxPlan{IPCsum: true, CrcStart: 60, CrcOff: 34}, true},
		{"in the UDP header", TxPlan{UDPCsum: true, CrcStart: 60, CrcOff: 41}, false},
		{"after the UDP header", TxPlan{UDPCsum: true, CrcStart: 60, CrcOff: 42}, true},
		{"in a zeroed UDP header", TxPlan{UDPZero: true, CrcStart: 60, CrcOff: 41}, false},
		{"after a zeroed UDP header", TxPlan{UDPZero: true, CrcStart: 60, CrcOff: 42}, true},
		{"in the MAC address", TxPlan{CrcStart: 14, CrcOff: 0}, true},
	} {
		f := nictest.RoceFrame(100)
		require.Len(t, f, n)
		before := append([]byte(nil), f...)
		p := c.plan
		p.Length, p.L3Off, p.L4Off, p.CRC32C = n, 14, 34, true
		_, s := FinishTx(&p, f)
		require.Equal(t, c.want, s == nicspec.StatusOk, c.name)
		if !c.want {
			require.Equal(t, nicspec.StatusBadOffload, s, c.name)
			require.Equal(t, before, f, c.name)
		}
	}
}

// TestCRC32CBeforeOtherOffloads: ICRC and UDP checksum cover the inserted CRC-32C [X2].
func TestCRC32CBeforeOtherOffloads(t *testing.T) {
	f := nictest.RoceFrame(100)
	p := TxPlan{Length: len(f), IPCsum: true, UDPCsum: true, ICRC: true, CRC32C: true, L3Off: 14, L4Off: 34,
		CrcStart: 54, CrcOff: len(f) - 8}
	want := wire.CRC32C(f[54 : len(f)-8])
	got, s := FinishTx(&p, f)
	require.Equal(t, nicspec.StatusOk, s)
	require.Equal(t, want, binary.LittleEndian.Uint32(got[len(f)-8:]))
	require.Equal(t, wire.OK, wire.VerifyFrameICRC(got).Verdict)
	require.Equal(t, wire.OK, wire.VerifyUDPChecksum(got[14:]))
}

func TestTransmitECN(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		l3   int
		v6   bool
		mod  func(f []byte)
		want bool
	}{
		{"IPv4", 200, 14, false, nil, true},
		{"IPv6", 200, 14, true, nil, true},
		{"IPv4 behind tags", 200, 22, false, nil, true},
		{"IPv4 at 108", 200, 108, false, nil, true},
		{"IPv4 at 109", 200, 109, false, nil, false},
		{"IPv6 at 88", 200, 88, true, nil, true},
		{"IPv6 at 89", 200, 89, true, nil, false},
		{"IPv4, short", 61, 42, false, nil, false},
		{"IPv6, just there", 60, 20, true, nil, true},
		{"IPv4 with IHL 0", 100, 14, false, func(f []byte) { f[14] = 0x40 }, true},
		{"version 5", 100, 14, false, func(f []byte) { f[14] = 0x55 }, false},
		{"another type", 100, 14, false, func(f []byte) { f[12] = 9 }, false},
		{"IPv6 with the type of IPv4", 100, 14, true, func(f []byte) { f[12], f[13] = 8, 0 }, false},
		{"IPv4 with the type of IPv6", 100, 14, false, func(f []byte) { f[12], f[13] = 0x86, 0xdd }, false},
	} {
		for was := range uint8(4) {
			for mode := range uint8(4) {
				f := nictest.IPFrame(c.n, c.l3, c.v6, 0xb8|was)
				if c.mod != nil {
					c.mod(f)
				}
				before := append([]byte(nil), f...)
				p := TxPlan{Length: c.n, L3Off: c.l3, ECN: mode}
				got, s := FinishTx(&p, f)
				require.Equal(t, nicspec.StatusOk, s)
				if !c.want || mode == 0 || mode == was {
					require.Equal(t, before, got, "%s: mode %d", c.name, mode)
					continue
				}
				ip := got[c.l3:]
				if c.v6 {
					require.Equal(t, 0xb8|mode, ip[0]<<4|ip[1]>>4, c.name)
					ip[1] = before[c.l3+1]
				} else {
					require.Equal(t, 0xb8|mode, ip[1], c.name)
					if ip[0] == 0x45 {
						require.Zero(t, wire.Checksum(ip[:20]), c.name)
					}
					copy(ip[1:2], before[c.l3+1:])
					copy(ip[10:12], before[c.l3+10:])
				}
				require.Equal(t, before, got, c.name)
			}
		}
	}
	early := nictest.IPFrame(100, 14, false, 1)
	p := TxPlan{Length: 100, L3Off: 13, ECN: 3}
	got, _ := FinishTx(&p, append([]byte(nil), early...))
	require.Equal(t, early, got, "l3_off below 14")
}

// TestECNBeforeOffloads: the CRC-32C covers the ECN bits as they leave, and the IPv4 checksum is
// written last.
func TestECNBeforeOffloads(t *testing.T) {
	f := nictest.IPFrame(100, 14, false, 1)
	f[24] ^= 0xff // a wrong IPv4 checksum
	p := TxPlan{Length: 100, L3Off: 14, L4Off: 34, ECN: 2, IPCsum: true, CRC32C: true, CrcStart: 0, CrcOff: 90}
	got, s := FinishTx(&p, f)
	require.Equal(t, nicspec.StatusOk, s)
	require.Equal(t, uint8(2), got[15])
	require.Zero(t, wire.Checksum(got[14:34]))
}

// TestECNBeforeConditions: the checks and offloads see the frame after ECN was set, even if the offsets place the UDP
// length on the IPv4 checksum, which ECN changes [E2], [T7].
func TestECNBeforeConditions(t *testing.T) {
	const l3, l4, change = 14, 20, -2 // change of the checksum by ECN 2 in place of 0
	for length, want := range map[int]nicspec.Status{8: nicspec.StatusBadOffload, 10: nicspec.StatusOk,
		100 - l4 + 2: nicspec.StatusOk,
		100 - l4 + 3: nicspec.StatusBadOffload, 65535: nicspec.StatusBadOffload} {
		f := nictest.IPFrame(100, l3, false, 1)
		f[l3+1] = 0
		binary.BigEndian.PutUint16(f[l4+4:], uint16(length))
		p := TxPlan{Length: 100, L3Off: l3, L4Off: l4, ECN: 2, UDPCsum: true}
		got, s := FinishTx(&p, f)
		require.Equal(t, want, s, "UDP length %d", length)
		if s == nicspec.StatusOk {
			require.Equal(t, length+change, int(binary.BigEndian.Uint16(got[l4+4:])))
		}
	}
}

// TestCRC32CInAddresses: a CRC-32C written over the IP addresses does not change the pseudo
// header's sum [X2].
func TestCRC32CInAddresses(t *testing.T) {
	f := nictest.IPFrame(120, 14, true, 0) // addresses in bytes 22 to 53; the UDP header at 18 overlaps them
	binary.BigEndian.PutUint16(f[18+4:], 80)
	want := wire.PseudoHeader(f[22:54], 17, 80)
	p := TxPlan{Length: len(f), UDPCsum: true, CRC32C: true, L3Off: 14, L4Off: 18, CrcStart: 60, CrcOff: 30}
	got, s := FinishTx(&p, f)
	require.Equal(t, nicspec.StatusOk, s)
	sum := binary.BigEndian.Uint16(got[24:])
	require.Zero(t, want.Add(got[18:98]).Checksum(), "checksum %#x", sum)
}
