package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"
)

var frame = bytes.Repeat([]byte{0x5a}, 61)

// pcap builds a file by hand, so that the reader is not tested with its own library.
func pcap(order binary.AppendByteOrder, magic uint32, unit uint32, packets ...[]byte) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(b, 96) // shorter than some packets, as careless writers do
	b = order.AppendUint32(b, 1)
	for i, p := range packets {
		b = order.AppendUint32(b, 7)
		b = order.AppendUint32(b, uint32(i)*unit)
		b = order.AppendUint32(b, uint32(len(p)))
		b = order.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

func TestPcapOrdersAndUnits(t *testing.T) {
	for _, c := range []struct {
		name  string
		order binary.AppendByteOrder
		magic uint32
		unit  uint32
	}{
		{"little micro", binary.LittleEndian, magicMicro, 1},
		{"big micro", binary.BigEndian, magicMicro, 1},
		{"little nano", binary.LittleEndian, magicNano, 1000},
		{"big nano", binary.BigEndian, magicNano, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse("x", pcap(c.order, c.magic, c.unit, frame, nil, bytes.Repeat(frame, 3)))
			require.NoError(t, err)
			require.Equal(t, 1, f.Empty)
			require.Len(t, f.Packets, 2)
			require.Equal(t, frame, f.Packets[0].Data)
			require.Equal(t, int64(2_000_000), f.Packets[1].Interval, "two microseconds in picoseconds")
		})
	}
}

func pcapng(t *testing.T, links ...layers.LinkType) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriterInterface(&b, pcapgo.NgInterface{LinkType: links[0], TimestampResolution: 9}, pcapgo.DefaultNgWriterOptions)
	require.NoError(t, err)
	for _, l := range links[1:] {
		_, err := w.AddInterface(pcapgo.NgInterface{LinkType: l})
		require.NoError(t, err)
	}
	for i := range links {
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(9, int64(i)), CaptureLength: len(frame), Length: len(frame), InterfaceIndex: i}
		require.NoError(t, w.WritePacket(ci, frame))
	}
	require.NoError(t, w.Flush())
	return b.Bytes()
}

func TestPcapng(t *testing.T) {
	one := pcapng(t, layers.LinkTypeEthernet, layers.LinkTypeEthernet)
	f, err := Parse("x", append(one, one...)) // two sections
	require.NoError(t, err)
	require.Len(t, f.Packets, 4)
	require.Equal(t, int64(1000), f.Packets[1].Interval, "one nanosecond")

	_, err = Parse("mixed.pcapng", pcapng(t, layers.LinkTypeEthernet, layers.LinkTypeRaw))
	require.ErrorContains(t, err, "mixed.pcapng: packet 2")
	require.ErrorContains(t, err, "only Ethernet")
}

// Every proper prefix of a good file is refused or holds fewer packets; nothing panics.
func TestCutOff(t *testing.T) {
	for name, raw := range map[string][]byte{
		"pcap":   pcap(binary.LittleEndian, magicMicro, 1, frame, frame),
		"pcapng": pcapng(t, layers.LinkTypeEthernet, layers.LinkTypeEthernet),
	} {
		for n := range raw {
			f, err := Parse(name, raw[:n])
			if err == nil {
				require.Less(t, len(f.Packets), 2, "%s cut to %d bytes", name, n)
				continue
			}
			var e *Error
			require.True(t, errors.As(err, &e), "%v", err)
			require.Equal(t, name, e.Path)
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ raw, want string }{
		"empty": {"", "neither pcap nor pcapng"},
		"text":  {"hello, world", "neither pcap nor pcapng"},
		"gzip":  {"\x1f\x8b\x08\x00rest", "unpack"},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.raw), 0o600))
		_, err := Read(path)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, path)
	}
	_, err := Read(dir)
	require.ErrorContains(t, err, "is a folder")
	_, err = Read("/dev/zero")
	require.ErrorContains(t, err, "/dev/zero: is a pipe or a device")
	_, err = Read("")
	require.EqualError(t, err, `"": no such file or directory`)
	_, err = Read(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// block is a block of pcapng.
func block(typ uint32, body ...byte) []byte {
	n := uint32(len(body) + 12)
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, typ), n)
	return binary.LittleEndian.AppendUint32(append(b, body...), n)
}

// What a file says of itself is held to the formats, and told with its place.
func TestHeadersAndOptions(t *testing.T) {
	section := block(magicSection, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255)
	iface := func(options ...byte) []byte {
		return bytes.Join([][]byte{section, block(blockInterface, append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, options...)...),
			block(blockEnhanced, append(make([]byte, 12), 1, 0, 0, 0, 1, 0, 0, 0, 0x5a, 0, 0, 0)...)}, nil)
	}
	old := pcap(binary.BigEndian, magicMicro, 1, frame)
	old[5] = 1
	other := bytes.Clone(iface())
	other[12] = 9
	for _, x := range []struct {
		raw  []byte
		want string
	}{
		{iface(), ""},
		{iface(9, 0, 1, 0, 19, 0, 0, 0, 0, 0, 0, 0), ""},
		{iface(9, 0, 1, 0, 0xbf, 0, 0, 0), ""},
		{iface(2, 0, 3, 0, 'e', 't', 'h', 0, 0, 0, 0, 0), ""},
		{iface(9, 0, 1, 0, 20, 0, 0, 0), "x: offset 28: resolution of times 0x14: wants 10 to the power of -0 to -19"},
		{iface(9, 0, 1, 0, 0xff, 0, 0, 0), "x: offset 28: resolution of times 0xff"},
		{iface(9, 0, 200, 0), "x: offset 28: option 9 of block type 1 with 200 bytes where 0 are left"},
		{iface(9, 0, 0, 0, 0, 0, 0, 0), "x: offset 28: option 9 of block type 1 with 0 bytes: wants 1"},
		{iface(14, 0, 4, 0, 1, 2, 3, 4), "x: offset 28: option 14 of block type 1 with 4 bytes: wants 8"},
		{iface(0, 0, 4, 0, 1, 2, 3, 4), "x: offset 28: end of options of block type 1 with 4 bytes: wants none"},
		{append(iface(), block(blockStatistics, 0, 0, 0, 0)...), "x: offset 84: block type 5 of 16 bytes is too short"},
		{append(iface(), block(blockStatistics, append(make([]byte, 12), 2, 0, 1, 0, 0, 0, 0, 0)...)...), "x: offset 84: option 2 of block type 5 with 1 bytes: wants 8"},
		{old, "x: offset 4: pcap of version 1.4: want 2.4"},
		{other, "x: offset 0: no section has version 1.0 of pcapng"},
	} {
		f, err := Parse("x", x.raw)
		if x.want == "" {
			require.NoError(t, err, "% x", x.raw)
			require.Len(t, f.Packets, 1)
			continue
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		require.ErrorContains(t, err, x.want)
	}
}

func TestShippedCaptures(t *testing.T) {
	files, err := filepath.Glob("../captures/*/*.pcap")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		f, err := Read(path)
		require.NoError(t, err)
		require.NotEmpty(t, f.Packets, path)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(pcap(binary.BigEndian, magicNano, 1, frame))
	f.Add(pcapng(&testing.T{}, layers.LinkTypeEthernet))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse("fuzz", raw)
		if (err == nil) == (file == nil) {
			t.Fatal("either a file or an error")
		}
	})
}
