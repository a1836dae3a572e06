package wire

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naiveChecksum computes the checksum of RFC 1071 word by word.
func naiveChecksum(b []byte) uint16 {
	var sum uint64
	for i := 0; i < len(b); i += 2 {
		w := uint64(b[i]) << 8
		if i+1 < len(b) {
			w |= uint64(b[i+1])
		}
		sum += w
	}
	for sum>>16 != 0 {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

func TestChecksumAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]*rapid.Generator[byte]{rapid.Byte(), rapid.Just(byte(0xff)),
			rapid.Just(byte(0))}).Draw(t, "kind")
		b := rapid.SliceOfN(value, 0, 200).Draw(t, "bytes")
		if got, want := Checksum(b), naiveChecksum(b); got != want {
			t.Fatalf("%04x, want %04x", got, want)
		}
		cut := rapid.IntRange(0, len(b)/2).Draw(t, "cut") * 2
		if got, want := PartialSum(0).Add(b[:cut]).Add(b[cut:]).Checksum(), naiveChecksum(b); got != want {
			t.Fatalf("in two pieces: %04x, want %04x", got, want)
		}
		v := rapid.Uint32().Draw(t, "word")
		whole := append(binary.BigEndian.AppendUint32(nil, v), b...)
		if got, want := PartialSum(0).Add(b).AddUint32(v).Checksum(), naiveChecksum(whole); got != want {
			t.Fatalf("with a word: %04x, want %04x", got, want)
		}
	})
}

func TestChecksumKnown(t *testing.T) {
	// The example of RFC 1071 section 3.
	require.Equal(t, ^uint16(0xddf2), Checksum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}))
	require.Equal(t, uint16(0xffff), Checksum(nil))
	require.Equal(t, uint16(0), Checksum(bytes.Repeat([]byte{0xff}, 65536)))
}

// TestChecksumsOfVector checks both checksums of the one vector whose source states them.
func TestChecksumsOfVector(t *testing.T) {
	v := vectorLike(t, "uc_send_only_pad2")
	ip := bytes.Clone(v.packet[etherSize:])
	sum, err := IPv4HeaderChecksum(ip)
	require.NoError(t, err)
	require.Equal(t, uint16(0xb4d5), sum)
	require.Equal(t, OK, VerifyIPv4Header(ip))
	udp, err := UDPChecksum(ip)
	require.NoError(t, err)
	require.Equal(t, uint16(0xaca2), udp)
	require.Equal(t, OK, VerifyUDPChecksum(ip))

	want := bytes.Clone(ip)
	copy(ip[10:12], "xx")
	copy(ip[26:28], "xx")
	require.Equal(t, Bad, VerifyIPv4Header(ip))
	require.Equal(t, Bad, VerifyUDPChecksum(ip))
	require.NoError(t, SetIPv4HeaderChecksum(ip))
	require.NoError(t, SetUDPChecksum(ip))
	require.Equal(t, want, ip)
}

func TestUDPChecksumRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l4 := rapid.SampledFrom([]int{20, 24, 60, 40}).Draw(t, "l4")
		n := rapid.IntRange(8, 120).Draw(t, "length")
		ip := rapid.SliceOfN(rapid.Byte(), l4+n, l4+n+3).Draw(t, "ip")
		if l4 == 40 {
			ip[0], ip[6] = 0x60, protocolUDP
		} else {
			ip[0], ip[6], ip[7], ip[9] = 0x40|byte(l4/4), 0, 0, protocolUDP
		}
		binary.BigEndian.PutUint16(ip[l4+4:], uint16(n))
		if err := SetUDPChecksum(ip); err != nil {
			t.Fatal(err)
		}
		if VerifyUDPChecksum(ip) != OK {
			t.Fatal("not ok after it was set")
		}
		pseudo := append(bytes.Clone(addresses(ip)), 0, 0, 0, protocolUDP, 0, 0, byte(n>>8), byte(n))
		if sum := naiveChecksum(append(pseudo, ip[l4:l4+n]...)); sum != 0 {
			t.Fatalf("naive sum over it is %04x, want 0", sum)
		}
		ip[l4+n-1] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if n > 8 && VerifyUDPChecksum(ip) != Bad {
			t.Fatal("a flipped bit went unnoticed")
		}
	})
}

// TestUDPChecksumOfZero: for a datagram whose checksum computes to 0, 0xFFFF is sent.
func TestUDPChecksumOfZero(t *testing.T) {
	ip := bytes.Clone(vectorLike(t, "uc_send_only_pad2").packet[etherSize:])
	sum, err := UDPChecksum(ip)
	require.NoError(t, err)
	// Adding the checksum to a payload word makes the sum all ones.
	word := ip[len(ip)-8:]
	v := uint32(binary.BigEndian.Uint16(word)) + uint32(sum)
	binary.BigEndian.PutUint16(word, uint16(v+v>>16))
	require.NoError(t, SetUDPChecksum(ip))
	require.Equal(t, uint16(0xffff), binary.BigEndian.Uint16(ip[26:]))
	require.Equal(t, OK, VerifyUDPChecksum(ip))
	copy(ip[26:28], []byte{0, 0})
	require.Equal(t, NotChecked, VerifyUDPChecksum(ip))
}

func TestChecksumRefusals(t *testing.T) {
	ip := vectorLike(t, "uc_send_only_pad2").packet[etherSize:]
	for _, tc := range []struct {
		name    string
		change  func(ip []byte) []byte
		text    string
		verdict Verdict
	}{
		{"short", func(ip []byte) []byte { return ip[:19] }, "wire: IPv4 truncated: needs 20 bytes, have 19",
			NotChecked},
		{"version", func(ip []byte) []byte { ip[0] = 0x65; return ip }, "wire: IPv4 version is 0x6, want 4",
			NotChecked},
		{"ihl", func(ip []byte) []byte { ip[0] = 0x44; return ip }, "wire: IPv4 IHL is 0x4, want 5..15", NotChecked},
		{"options", func(ip []byte) []byte { ip[0] = 0x4f; return ip[:50] },
			"wire: IPv4 options truncated: needs 60 bytes, have 50", Truncated},
	} {
		p := tc.change(bytes.Clone(ip))
		_, err := IPv4HeaderChecksum(p)
		require.EqualError(t, err, tc.text, tc.name)
		require.EqualError(t, SetIPv4HeaderChecksum(p), tc.text, tc.name)
		require.Equal(t, tc.verdict, VerifyIPv4Header(p), tc.name)
	}
	p := bytes.Clone(ip)
	p[9] = 6
	_, err := UDPChecksum(p)
	require.ErrorContains(t, err, "wire: UDP checksum: IP protocol or next header is not UDP (17)")
	require.ErrorContains(t, SetUDPChecksum(p), "not UDP (17)")
	require.Equal(t, NotChecked, VerifyUDPChecksum(p))
}
