package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Mark marks ECN-capable packets of either IP version, once, and leaves the header as it came.
func TestMark(t *testing.T) {
	for name, x := range map[string]struct {
		net           []byte
		before, marks bool
	}{
		"IPv4, ECT(0)":  {[]byte{0x45, 0x02}, false, true},
		"IPv4, ECT(1)":  {[]byte{0x45, 0xb9}, false, true},
		"IPv4, not ECT": {[]byte{0x45, 0xb8}, false, false},
		"IPv4, CE":      {[]byte{0x45, 0x03}, true, false},
		"IPv6, ECT(0)":  {[]byte{0x60, 0x20}, false, true},
		"IPv6, not ECT": {[]byte{0x60, 0x8f}, false, false},
		"IPv6, CE":      {[]byte{0x60, 0x30}, true, false},
		"no IP":         {nil, false, false},
	} {
		p := Packet{Net: append([]byte(nil), x.net...)}
		require.Equal(t, x.before, p.Marked(), name)
		require.Equal(t, x.marks, p.Mark(), name)
		require.Equal(t, x.before || x.marks, p.Marked(), name)
		require.False(t, p.Mark(), "%s: once", name)
		require.Equal(t, x.net, p.Net[:len(x.net):len(x.net)], name)
	}
}
