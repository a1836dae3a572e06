package capture

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// ofLink returns a file with packets of a link type.
func ofLink(link uint32, packets ...[]byte) []byte {
	raw := pcap(binary.LittleEndian, magicMicro, 1, packets...)
	binary.LittleEndian.PutUint32(raw[20:], link)
	return raw
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// Link types that encapsulate a whole Ethernet frame give that frame, without headers, preamble and FCS.
func TestFramesWithin(t *testing.T) {
	fcs, before := []byte{1, 2, 3, 4}, bytes.Repeat([]byte{0x55}, 7)
	for name, x := range map[string]struct {
		link uint32
		data []byte
	}{
		"Ethernet":                          {1, frame},
		"Ethernet, bits of an FCS":          {0x14000001, frame},
		"PPI":                               {192, join([]byte{0, 0, 12, 0, 1, 0, 0, 0, 9, 9, 9, 9}, frame)},
		"netANALYZER":                       {240, join([]byte{9, 9, 9, 9}, frame, fcs)},
		"netANALYZER, transparent":          {241, join([]byte{9, 9, 9, 9}, before, []byte{0xd5}, frame, fcs)},
		"Ethernet with preamble":            {274, join(before, []byte{0xd5}, frame, fcs)},
		"Ethernet with a shorter preamble":  {274, join(before[:3], []byte{0xd5}, frame, fcs)},
		"Ethernet that begins as preambles": {274, join([]byte{0xd5}, frame, fcs)},
	} {
		f, err := Parse(name, ofLink(x.link, x.data))
		require.NoError(t, err)
		require.Len(t, f.Packets, 1)
		require.Equal(t, frame, f.Packets[0].Data, name)
		require.Equal(t, len(frame), f.Packets[0].WireLen, name)
	}
	raw := ofLink(240, join([]byte{9, 9, 9, 9}, frame)[:30]) // captured only in part
	binary.LittleEndian.PutUint32(raw[24+12:], uint32(4+len(frame)+4))
	f, err := Parse("x", raw)
	require.NoError(t, err)
	require.Equal(t, frame[:26], f.Packets[0].Data)
	require.Equal(t, len(frame), f.Packets[0].WireLen)
}

// The error about any other link type names it, says what its packets lack, and names a program that converts them.
func TestLinkTypesThatAreRefused(t *testing.T) {
	for _, x := range []struct {
		link uint32
		data []byte
		want []string
	}{
		{113, frame, []string{"link type 113 (Linux cooked, SLL)", "no destination address",
			"tcprewrite --dlt=enet --enet-dmac=MAC"}},
		{276, frame, []string{"link type 276 (Linux cooked, SLL2)", "no destination address", "tcprewrite"}},
		{101, frame, []string{"link type 101 (raw IP)", "no Ethernet header", "tcprewrite"}},
		{247, frame, []string{"link type 247 (InfiniBand)", "capture on the Ethernet interface itself"}},
		{257, frame, []string{"link type 257: only Ethernet (1)"}}, // its lower 8 bits are those of Ethernet
		{192, frame[:7], []string{"link type 192 (PPI): 7 bytes"}},
		{192, []byte{0, 0, 80, 0, 1, 0, 0, 0}, []string{"(PPI): a header of 80 bytes in a packet of 8"}},
		{192, []byte{0, 0, 8, 0, 105, 0, 0, 0}, []string{"(PPI) with 105 within"}},
		{240, frame[:3], []string{"(netANALYZER): 3 bytes"}},
		{274, []byte{0x55, 0x55}, []string{"no frame begins in its first 2 bytes"}},
		{274, []byte{0x55, 0x55, 0xe6, 1, 2}, []string{"behind the preamble is 0xe6", "not fragments"}},
	} {
		_, err := Parse("x", ofLink(x.link, x.data))
		for _, want := range append(x.want, "x: packet 1: offset 24: link type") {
			require.ErrorContains(t, err, want)
		}
	}
}
