package hostnet

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	niccore "nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

func addresses(v6 bool) Ends {
	e := Ends{Local: Address{MAC: [6]byte{2, 1}, IP: netip.MustParseAddr("10.0.0.1")},
		Peer: Address{MAC: [6]byte{2, 2}, IP: netip.MustParseAddr("10.0.0.2")}, LocalPort: 1111, PeerPort: 2222}
	if v6 {
		e.Local.IP, e.Peer.IP = netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
	}
	return e
}

// TestFrames checks built frames against the contract's parser: offsets, lengths, checksums, and the rule of the peer's
// flow, which must match no other port or address.
func TestFrames(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		e := addresses(v6)
		header := e.template()
		setLengths(header, 100)
		frame := append(header, make([]byte, 100)...)
		if !v6 {
			require.NoError(t, wire.SetIPv4HeaderChecksum(frame[etherBytes:]))
		}
		require.NoError(t, wire.SetUDPChecksum(frame[etherBytes:]))
		var h niccore.Headers
		niccore.Parse(frame, 4791, &h)
		peer := Ends{Local: e.Peer, Peer: e.Local, LocalPort: e.PeerPort, PeerPort: e.LocalPort}
		var key [nicspec.SteerKeySize]byte
		h.SteerKey(0, &key)
		got := nicspec.DecodeSteerKey(key[:])
		require.False(t, got.IpLenBad || got.L4LenBad || got.IsFrag)
		require.True(t, matches(&peer, key, true))
		require.False(t, matches(&e, key, false), "the flow's own rule is for the other direction")
		for _, other := range []func(*Ends){
			func(x *Ends) { x.LocalPort++ }, func(x *Ends) { x.PeerPort++ }, func(x *Ends) { x.Local.MAC[5]++ },
			func(x *Ends) { x.Local.IP = x.Local.IP.Next() },
		} {
			x := peer
			other(&x)
			require.False(t, matches(&x, key, true))
		}
		d, ok := parse(frame, etherBytes, e.l4())
		require.True(t, ok)
		require.Equal(t, datagram{payload: e.HeaderBytes(), bytes: 100, ecn: ecnCapable}, d)
	}
}

// matches reports whether the rule of a flow matches a key.
func matches(e *Ends, key [nicspec.SteerKeySize]byte, source bool) bool {
	value, mask := e.match(source)
	var v, m [nicspec.SteerKeySize]byte
	value.Encode(v[:])
	mask.Encode(m[:])
	for i := range key {
		if (key[i]^v[i])&m[i] != 0 {
			return false
		}
	}
	return true
}

func TestAnnouncement(t *testing.T) {
	a := addresses(false).Local
	b := announcement(a)
	require.Len(t, b, nicspec.FrameMin)
	require.Equal(t, "ffffffffffff 020100000000 0806 0001 0800 06 04 0001 020100000000 0a000001 000000000000 0a000001",
		wordsOf(b[:42], 6, 6, 2, 2, 2, 1, 1, 2, 6, 4, 6, 4))
}

// TestBadAddresses checks that every wrong field of a flow's ends is named.
func TestBadAddresses(t *testing.T) {
	e := addresses(false)
	e.Peer.IP, e.LocalPort = netip.MustParseAddr("fd00::1"), 0
	err := e.validate()
	require.ErrorContains(t, err, "want both of one family")
	require.ErrorContains(t, err, "UDP ports 0 and 2222")
	e.Local.IP = netip.MustParseAddr("::ffff:10.0.0.1")
	require.ErrorContains(t, e.validate(), "local address ::ffff:10.0.0.1")
	e.Local.IP = netip.Addr{}
	require.ErrorContains(t, e.validate(), "local address invalid IP")
}

func FuzzParse(f *testing.F) {
	for _, v6 := range []bool{false, true} {
		e := addresses(v6)
		b := e.template()
		f.Add(b, etherBytes, e.l4())
	}
	f.Fuzz(func(t *testing.T, b []byte, l3, l4 int) {
		if d, ok := parse(b, l3, l4); ok {
			require.Equal(t, l4+udpBytes, d.payload)
			require.LessOrEqual(t, d.payload, len(b))
			require.GreaterOrEqual(t, d.bytes, 0)
		}
	})
}
