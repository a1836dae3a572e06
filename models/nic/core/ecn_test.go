package core

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
)

// TestMarkCE: marking changes the ECN bits and nothing else, except the IPv4 checksum: a right one
// stays right, a wrong one wrong [E1].
func TestMarkCE(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawFrame(t)
		was := append([]byte(nil), b.frame...)
		var h, after Headers
		Parse(was, 4791, &h)
		l3 := int(h.L3Off)
		spoilt := !b.v6 && rapid.Bool().Draw(t, "spoilt")
		if spoilt {
			was[l3+10] ^= 0x40
		}
		now := append([]byte(nil), was...)
		MarkCE(now, &h)
		Parse(now, 4791, &after)
		require.Equal(t, h.IPTos|3, after.IPTos)
		if !b.v6 {
			require.Equal(t, !spoilt, wire.Checksum(now[l3:l3+int(h.IPHdrLen)]) == 0)
			copy(now[l3+10:l3+12], was[l3+10:])
		}
		after.IPTos = h.IPTos
		require.Equal(t, h, after)
		now[l3], now[l3+1] = was[l3], was[l3+1]
		require.Equal(t, was, now)
	})
}

// TestECNChecksumAtItsEdge: for every value of the checksum field, the ones' complement sum over
// the header stays the same (RFC 1624).
func TestECNChecksumAtItsEdge(t *testing.T) {
	for sum := range 1 << 16 {
		ip := make([]byte, 20)
		ip[0], ip[1] = 0x45, 1
		binary.BigEndian.PutUint16(ip[ipv4CsumOff:], uint16(sum))
		whole := uint32(wire.Checksum(ip))
		SetECN(ip, ecnCE)
		require.Equal(t, whole%0xffff, uint32(wire.Checksum(ip))%0xffff, "checksum field %#x", sum)
	}
}

func TestMarksCE(t *testing.T) {
	for tos := range uint8(8) {
		for _, l3 := range []nicspec.L3Type{nicspec.L3TypeNone, nicspec.L3TypeIpv4, nicspec.L3TypeIpv6} {
			h := Headers{L3Type: l3, IPTos: tos}
			want := l3 != nicspec.L3TypeNone && (tos&3 == 1 || tos&3 == 2)
			require.Equal(t, want, (&Queue{EcnMode: 1}).MarksCE(&h))
			require.False(t, (&Queue{}).MarksCE(&h))
		}
	}
}
