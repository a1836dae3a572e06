package capture

import (
	"encoding/binary"
	"testing"

	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// FuzzParse parses any text and a prefix of it. The prefix contains a prefix of the packets, or is refused because its
// header is incomplete.
func FuzzParse(f *testing.F) {
	f.Add(pcap(binary.BigEndian, magicNano, 1, frame), uint16(90))
	f.Add(pcapng(&testing.T{}, layers.LinkTypeEthernet), uint16(100))
	f.Add(packed(f, pcap(binary.BigEndian, magicNano, 1, frame, frame)), uint16(60))
	f.Fuzz(func(t *testing.T, raw []byte, cut uint16) {
		file, err := Parse("fuzz", raw)
		if (err == nil) == (file == nil) {
			t.Fatal("either a file or an error")
		}
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			return
		}
		part, err := Parse("fuzz", raw[:min(int(cut), len(raw))])
		if err != nil {
			return // the header is incomplete
		}
		require.LessOrEqual(t, len(part.Packets), len(file.Packets))
		require.Equal(t, file.Packets[:len(part.Packets)], part.Packets)
	})
}
