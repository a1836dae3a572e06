package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestICRCVectors(t *testing.T) {
	vectors := loadVectors(t)
	require.Len(t, vectors, 82)
	negative := 0
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			ip := v.packet
			if v.StartsAt == "eth" {
				off, etherType, err := L3Offset(v.packet)
				require.NoError(t, err)
				require.Equal(t, v.Family == "ipv6", etherType == etherTypeIPv6)
				require.Equal(t, VerifyICRC(v.packet[off:]), VerifyFrameICRC(v.packet))
				ip = v.packet[off:]
			}
			want := v.Wire
			if !v.Valid {
				want, negative = v.Expected, negative+1
				require.NotEqual(t, v.Wire, v.Expected)
			}
			c := VerifyICRC(ip)
			require.Equal(t, v.Valid, c.Verdict == OK, "%v", c.Err())
			require.Contains(t, []Verdict{OK, Bad}, c.Verdict)
			require.Equal(t, v.Wire, wireHex(c.Got))
			require.Equal(t, want, wireHex(c.Want))
			op, err := strconv.ParseUint(v.Opcode, 0, 8)
			require.NoError(t, err)
			require.True(t, Opcode(op).Info().Known, v.Opcode)
			checkInsert(t, ip, want)
		})
	}
	require.Equal(t, 5, negative)
}

// checkInsert overwrites the ICRC of a packet and checks that inserting it restores the packet.
func checkInsert(t *testing.T, packet []byte, want string) {
	ip := bytes.Clone(packet)
	d, f := findUDP(ip, Port, minRoCEUDP)
	require.Equal(t, faultNone, f)
	copy(ip[d.end-ICRCSize:d.end], "\xde\xad\xbe\xef")
	before := bytes.Clone(ip)
	crc, err := ICRC(ip)
	require.NoError(t, err)
	require.Equal(t, before, ip, "computing must not change the packet")
	require.NoError(t, InsertICRC(ip))
	require.Equal(t, want, wireHex(crc))
	require.Equal(t, want, hex.EncodeToString(ip[d.end-ICRCSize:d.end]))
	require.Equal(t, OK, VerifyICRC(ip).Verdict)
}

func wireHex(crc uint32) string {
	return hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, crc))
}

// naiveICRC masks a copy of the whole packet and computes the CRC over all of it at once.
func naiveICRC(ip []byte, l4, end int) uint32 {
	p := append(bytes.Repeat([]byte{0xff}, 8), ip[:end]...)
	m := p[8:]
	if ip[0]>>4 == 4 {
		m[1], m[8], m[10], m[11] = 0xff, 0xff, 0xff, 0xff
	} else {
		m[0] |= 0x0f
		m[1], m[2], m[3], m[7] = 0xff, 0xff, 0xff, 0xff
	}
	m[l4+6], m[l4+7], m[l4+12] = 0xff, 0xff, 0xff
	return crc32.ChecksumIEEE(p)
}

func TestCoveredCRCAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l4 := rapid.SampledFrom([]int{20, 24, 28, 36, 60, 40, 48}).Draw(t, "l4")
		version := byte(4)
		if l4 == 40 || l4 == 48 {
			version = 6
		}
		n := rapid.IntRange(0, 300).Draw(t, "payload")
		ip := rapid.SliceOfN(rapid.Byte(), l4+20+n, l4+20+n).Draw(t, "ip")
		ip[0] = version<<4 | ip[0]&0xf
		before := bytes.Clone(ip)
		if got, want := CoveredCRC(ip, l4, len(ip)), naiveICRC(ip, l4, len(ip)); got != want {
			t.Fatalf("l4 %d, %d bytes: %08x, want %08x", l4, len(ip), got, want)
		}
		if !bytes.Equal(before, ip) {
			t.Fatal("the packet was changed")
		}
	})
}

// TestICRCMask flips every bit of a packet. The ICRC must detect each, except in the fields that
// routers change.
func TestICRCMask(t *testing.T) {
	for _, name := range []string{"rxe4_op04", "rxe6_op05_f15"} {
		v := vectorLike(t, name)
		off, _, err := L3Offset(v.packet)
		require.NoError(t, err)
		ip := v.packet[off:]
		d, _ := findUDP(ip, Port, minRoCEUDP)
		masked := map[int]byte{d.l4 + 6: 0xff, d.l4 + 7: 0xff, d.l4 + 12: 0xff}
		if v.Family == "ipv4" {
			masked[1], masked[8], masked[10], masked[11] = 0xff, 0xff, 0xff, 0xff
		} else {
			masked[0], masked[1], masked[2], masked[3], masked[7] = 0x0f, 0xff, 0xff, 0xff, 0xff
		}
		for bit := range d.end * 8 {
			i, m := bit/8, byte(1)<<(bit%8)
			ip[i] ^= m
			got := VerifyICRC(ip).Verdict
			ip[i] ^= m
			require.Equal(t, masked[i]&m != 0, got == OK, "%s byte %d mask %02x: %v", name, i, m, got)
		}
		require.Equal(t, OK, VerifyICRC(ip).Verdict)
	}
}

func vectorLike(t testing.TB, prefix string) vector {
	t.Helper()
	for _, v := range loadVectors(t) {
		if len(v.Name) >= len(prefix) && v.Name[:len(prefix)] == prefix {
			return v
		}
	}
	require.Failf(t, "no vector", "%s...", prefix)
	return vector{}
}

func TestICRCVLAN(t *testing.T) {
	v := vectorLike(t, "rxe4_op04")
	off, _, err := L3Offset(v.packet)
	require.NoError(t, err)
	tags := []byte{0x88, 0xa8, 0, 100, 0x81, 0, 0, 7, 0x81, 0, 0, 9}
	for n, want := range []Verdict{OK, OK, OK, NotChecked} {
		frame := append(bytes.Clone(v.packet[:12]), tags[:4*n]...)
		frame = append(frame, 0x08, 0x00)
		frame = append(frame, v.packet[off:]...)
		c := VerifyFrameICRC(frame)
		require.Equal(t, want, c.Verdict, "%d tags: %v", n, c.Err())
		if want == OK {
			frame[len(frame)-1] ^= 1
			require.Equal(t, Bad, VerifyFrameICRC(frame).Verdict)
			require.NoError(t, InsertFrameICRC(frame))
			require.Equal(t, OK, VerifyFrameICRC(frame).Verdict)
			continue
		}
		require.ErrorContains(t, InsertFrameICRC(frame), "EtherType")
	}
}

func TestICRCRefusals(t *testing.T) {
	v := vectorLike(t, "rxe4_op04")
	for _, tc := range []struct {
		name    string
		change  func(ip []byte) []byte
		verdict Verdict
		text    string
	}{
		{"empty", func([]byte) []byte { return nil }, NotChecked, "IP header cut short"},
		{"version", func(ip []byte) []byte { ip[0] = 0x55; return ip }, NotChecked, "neither 4 nor 6"},
		{"ihl", func(ip []byte) []byte { ip[0] = 0x44; return ip }, NotChecked, "IHL below 5"},
		{"tcp", func(ip []byte) []byte { ip[9] = 6; return ip }, NotChecked, "not UDP (17)"},
		{"more fragments", func(ip []byte) []byte { ip[6] |= 0x20; return ip }, NotChecked, "fragment"},
		{"offset", func(ip []byte) []byte { ip[7] = 1; return ip }, NotChecked, "fragment"},
		{"port", func(ip []byte) []byte { ip[22] = 0; return ip }, NotChecked, "4791"},
		{"no UDP header", func(ip []byte) []byte { return ip[:27] }, NotChecked, "needs 8 bytes"},
		{"UDP length 23", func(ip []byte) []byte { ip[24], ip[25] = 0, 23; return ip }, Truncated, "too small"},
		{"cut", func(ip []byte) []byte { return ip[:len(ip)-1] }, Truncated, "exceeds the bytes"},
	} {
		off, _, err := L3Offset(v.packet)
		require.NoError(t, err)
		ip := tc.change(bytes.Clone(v.packet[off:]))
		c := VerifyICRC(ip)
		require.Equal(t, tc.verdict, c.Verdict, tc.name)
		require.ErrorContains(t, c.Err(), tc.text, tc.name)
		_, err = ICRC(ip)
		require.ErrorContains(t, err, tc.text, tc.name)
		require.ErrorContains(t, err, fmt.Sprint(len(ip)), tc.name)
		require.ErrorContains(t, InsertICRC(ip), tc.text, tc.name)
	}
}

func TestFrameRefusals(t *testing.T) {
	good := vectorLike(t, "rxe4_op04").packet
	for _, tc := range []struct {
		name   string
		change func(f []byte) []byte
		text   string
	}{
		{"runt", func(f []byte) []byte { return f[:13] }, "Ethernet header or VLAN tag cut short"},
		{"half a tag", func(f []byte) []byte { f[12], f[13] = 0x81, 0; return f[:17] }, "VLAN tag cut short"},
		{"ARP", func(f []byte) []byte { f[13] = 6; return f }, "EtherType is neither"},
		{"IPv6 type before IPv4", func(f []byte) []byte { f[12], f[13] = 0x86, 0xdd; return f },
			"does not agree with the EtherType"},
		{"IPv6 version in IPv4", func(f []byte) []byte { f[14] = 0x60; return f }, "does not agree with the EtherType"},
		{"no IP header", func(f []byte) []byte { return f[:14] }, "IP header cut short"},
	} {
		frame := tc.change(bytes.Clone(good))
		c := VerifyFrameICRC(frame)
		require.Equal(t, NotChecked, c.Verdict, tc.name)
		require.ErrorContains(t, c.Err(), tc.text, tc.name)
		_, err := FrameICRC(frame)
		require.ErrorContains(t, err, tc.text, tc.name)
		require.ErrorContains(t, SealFrame(frame, false), tc.text, tc.name)
	}
	bad := bytes.Clone(good)
	bad[len(bad)-1] ^= 0x80
	require.Regexp(t, `^wire: ICRC is 0x[0-9a-f]{8}, want 0x[0-9a-f]{8}$`, VerifyFrameICRC(bad).Err().Error())
}

func TestL3OffsetTruncated(t *testing.T) {
	_, _, err := L3Offset(make([]byte, 13))
	require.EqualError(t, err, "wire: Ethernet truncated: needs 14 bytes, have 13")
	frame := append(make([]byte, 12), 0x81, 0, 0, 1, 8)
	_, _, err = L3Offset(frame)
	require.EqualError(t, err, "wire: VLAN tag truncated: needs 4 bytes, have 3")
}

func TestCRC32C(t *testing.T) {
	ascending := make([]byte, 32)
	for i := range ascending {
		ascending[i] = byte(i)
	}
	// The digests of RFC 3720 B.4, as numbers.
	require.Equal(t, uint32(0x8a9136aa), CRC32C(make([]byte, 32)))
	require.Equal(t, uint32(0x62a8ab43), CRC32C(bytes.Repeat([]byte{0xff}, 32)))
	require.Equal(t, uint32(0x46dd794e), CRC32C(ascending))
	require.Equal(t, uint32(0xe3069283), CRC32C([]byte("123456789")))
	require.Equal(t, CRC32C(ascending), UpdateCRC32C(CRC32C(ascending[:5]), ascending[5:]))
}

func TestCRCShortAgainstLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		crc := rapid.Uint32().Draw(t, "crc")
		b := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "bytes")
		if got, want := crcShort(crc, b), crc32.Update(crc, crc32.IEEETable, b); got != want {
			t.Fatalf("%08x, want %08x", got, want)
		}
	})
}
