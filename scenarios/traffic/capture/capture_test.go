package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// pcap builds a file byte by byte, so that the reader is tested without a library that could share its mistakes.
func pcap(order binary.AppendByteOrder, magic uint32, unit uint32, packets ...[]byte) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(b, 96) // snap length: shorter than some packets, as some programs write it
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
	w, err := pcapgo.NewNgWriterInterface(&b, pcapgo.NgInterface{LinkType: links[0], TimestampResolution: 9},
		pcapgo.DefaultNgWriterOptions)
	require.NoError(t, err)
	for _, l := range links[1:] {
		_, err := w.AddInterface(pcapgo.NgInterface{LinkType: l})
		require.NoError(t, err)
	}
	for i := range links {
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(9, int64(i)), CaptureLength: len(frame), Length: len(frame),
			InterfaceIndex: i}
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

// Every proper prefix of a valid file is refused, or gives its first packets and reports a cut-off.
func TestCutOff(t *testing.T) {
	for name, raw := range map[string][]byte{
		"pcap":   pcap(binary.LittleEndian, magicMicro, 1, frame, frame),
		"pcapng": pcapng(t, layers.LinkTypeEthernet, layers.LinkTypeEthernet),
	} {
		whole, err := Parse(name, raw)
		require.NoError(t, err)
		require.Nil(t, whole.CutOff)
		for n := range raw {
			f, err := Parse(name, raw[:n])
			if err != nil {
				var e *Error
				require.True(t, errors.As(err, &e), "%v", err)
				require.Equal(t, name, e.Path)
				require.Less(t, n, 28, "%v: only file headers have to be whole", err)
				continue
			}
			require.Equal(t, whole.Packets[:len(f.Packets)], f.Packets)
			require.Less(t, len(f.Packets), 2, "%s cut to %d bytes", name, n)
			if c := f.CutOff; c != nil {
				require.EqualValues(t, n, c.Offset+c.Present)
				require.Positive(t, c.Missing)
				require.Equal(t, len(f.Packets), c.After)
			}
		}
	}
}

// If a file is cut off, CutOff says where it ends and how much is missing. A length that no packet or block can have is
// damage instead, and is reported with its offset.
func TestCutOffIsTold(t *testing.T) {
	raw := pcap(binary.LittleEndian, magicMicro, 1, frame, frame)
	f, err := Parse("x", raw[:len(raw)-7])
	require.NoError(t, err)
	require.Equal(t, &CutOff{File: "x", Offset: 24 + 77, After: 1, Present: 70, Missing: 7}, f.CutOff)
	require.Equal(t, "x: cut off at offset 101, after packet 1: 7 bytes of what begins there are missing, 70 are there",
		f.CutOff.String())

	raw[24+8+3] = 0x7f // highest byte of the first length
	_, err = Parse("x", raw)
	require.EqualError(t, err, "x: packet 1: offset 24: the record says 2130706493 bytes: a packet has at most 1048576")
	ng := pcapng(t, layers.LinkTypeEthernet)
	ng = append(ng, block(77, make([]byte, 100)...)...)
	at := len(ng) - 112
	ng[at+7] = 0x7f
	_, err = Parse("x", ng)
	require.ErrorContains(t, err, fmt.Sprintf("x: offset %d: block length 2130706544: a block has at most", at))
}

// Errors name known formats that are not supported, and a program that converts them. They do not quote files of other
// kinds.
func TestOtherFormats(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for magic, name := range map[uint32]string{0xa1b2cd34: `"modified" pcap`, 0x1c0001ac: "pcap as Ixia has it",
			0x1c0001ab: "pcap as Ixia has it"} {
			for _, raw := range [][]byte{pcap(order, magic, 1, frame), packed(t, pcap(order, magic, 1, frame)),
				order.AppendUint32(nil, magic)} {
				_, err := Parse("x", raw)
				require.ErrorContains(t, err, "x: offset 0: "+name)
				require.ErrorContains(t, err, "which is not read here: convert it first, as by editcap -F pcap FILE "+
					"converted.pcap")
			}
		}
	}
	for raw, want := range map[string]string{
		"snoop\x00\x00\x00\x00\x00\x00\x02": "snoop, which is not read here", "GMBU\x02\x00": "Network Monitor 2",
		"RTSS": "Network Monitor 1",
	} {
		_, err := Parse("x", []byte(raw))
		require.ErrorContains(t, err, want)
	}
	_, err := Parse("x", []byte("root:secret"))
	require.EqualError(t, err, "x: offset 0: neither pcap nor pcapng: it begins with no magic number of theirs")
}

func packed(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(raw)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// gzip is recognized by its magic number. A truncated gzip file is reported as cut off, a damaged one as an error.
func TestGzip(t *testing.T) {
	noise := make([]byte, 4000) // bytes that gzip does not compress
	for i := range noise {
		noise[i] = byte(i * i * 7919 >> 5)
	}
	raw := pcap(binary.LittleEndian, magicMicro, 1, noise, frame, noise)
	whole, err := Parse("x", raw)
	require.NoError(t, err)
	z := packed(t, raw)
	f, err := Parse("x", z)
	require.NoError(t, err)
	require.Equal(t, whole, f)
	// Two members are unpacked as one stream, so the second pcap header is read as a packet, with an absurd length.
	f, err = Parse("x", append(z[:len(z):len(z)], z...))
	require.Error(t, err, "%v", f)

	f, err = Parse("x", z[:len(z)-3])
	require.NoError(t, err)
	require.Equal(t, whole.Packets, f.Packets)
	require.NotNil(t, f.CutOff, "its checksum is missing")
	f, err = Parse("x", z[:len(z)/4])
	require.NoError(t, err)
	require.Less(t, len(f.Packets), 3)
	require.NotNil(t, f.CutOff)

	z[len(z)-5] ^= 1 // a byte of the checksum
	_, err = Parse("x", z)
	require.ErrorContains(t, err, "x: offset "+fmt.Sprint(len(raw))+": gzip: invalid checksum")
	_, err = Parse("x", packed(t, packed(t, raw)))
	require.ErrorContains(t, err, "gzip within gzip")
}

// A gzip file may have several members, and garbage behind the last one. A file that ends within a member is cut off.
func TestGzipMembers(t *testing.T) {
	raw := pcap(binary.LittleEndian, magicMicro, 1, frame, frame)
	whole, err := Parse("x", raw)
	require.NoError(t, err)
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	z, half, none := packed(t, raw), len(raw)/2, packed(t, nil)
	for name, x := range map[string]struct {
		file         []byte
		garbage, cut bool
	}{
		"one member":         {z, false, false},
		"two members":        {cat(packed(t, raw[:half]), packed(t, raw[half:])), false, false},
		"empty members":      {cat(bytes.Repeat(none, 300), z, bytes.Repeat(none, 300)), false, false},
		"7 bytes of garbage": {cat(z, []byte("garbage")), true, false},
		"1 byte of garbage":  {cat(z, []byte{0x1f}), true, false},
		"much garbage":       {cat(z, bytes.Repeat([]byte("noise "), 50000)), true, false},
		"zeros":              {cat(z, make([]byte, 512)), true, false},
		"a header cut off":   {cat(z, z[:7]), false, true},
		"no checksum":        {z[:len(z)-3], false, true},
		"second without end": {cat(packed(t, raw[:half]), packed(t, raw[half:])[:20]), false, true},
	} {
		r, err := parse("x", x.file)
		require.NoError(t, err, name)
		c, err := collect(r)
		require.NoError(t, err, name)
		require.Equal(t, x.garbage, r.Garbage(), name)
		require.Equal(t, x.cut, c.CutOff != nil, name)
		if !x.cut {
			require.Equal(t, whole, c, name)
		}
	}
}

// Every shipped capture is read as gopacket's reader reads it, packet by packet.
func TestAgainstPcapgo(t *testing.T) {
	files, err := filepath.Glob("../../captures/*/*.pcap")
	require.NoError(t, err)
	for _, path := range files {
		f, err := Read(path)
		require.NoError(t, err)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		r, err := pcapgo.NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		for i, p := range f.Packets {
			data, ci, err := r.ReadPacketData()
			require.NoError(t, err)
			require.Equal(t, data, p.Data)
			require.Equal(t, Packet{Origin{path, i + 1, ci.Timestamp}, data, ci.Length, p.Offset, p.Interval}, p)
		}
		_, _, err = r.ReadPacketData()
		require.ErrorIs(t, err, io.EOF)
	}
}

// Time stamps of pcapng are converted for every resolution, and with an offset.
func TestClocks(t *testing.T) {
	for _, x := range []struct {
		options []byte
		ticks   uint64
		want    time.Time
	}{
		{nil, 5_000_007, time.Unix(5, 7000)},
		{[]byte{9, 0, 1, 0, 0, 0, 0, 0}, 5, time.Unix(5, 0)},
		{[]byte{9, 0, 1, 0, 9, 0, 0, 0}, 5_000_000_007, time.Unix(5, 7)},
		{[]byte{9, 0, 1, 0, 12, 0, 0, 0}, 5_000_000_007_999, time.Unix(5, 7)},
		{[]byte{9, 0, 1, 0, 19, 0, 0, 0}, 1<<64 - 1, time.Unix(1, 844674407)},
		{[]byte{9, 0, 1, 0, 0x8a, 0, 0, 0}, 5<<10 + 512, time.Unix(5, 500_000_000)},
		{[]byte{9, 0, 1, 0, 0xbf, 0, 0, 0}, 1 << 62, time.Unix(0, 500_000_000)},
		{[]byte{14, 0, 8, 0, 254, 255, 255, 255, 255, 255, 255, 255}, 5_000_007, time.Unix(3, 7000)},
	} {
		ticks := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(make([]byte, 4),
			uint32(x.ticks>>32)), uint32(x.ticks))
		raw := bytes.Join([][]byte{sectionHeader,
			block(blockInterface, append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, x.options...)...),
			block(blockEnhanced, append(ticks, 1, 0, 0, 0, 1, 0, 0, 0, 0x5a, 0, 0, 0)...)}, nil)
		f, err := Parse("x", raw)
		require.NoError(t, err)
		require.Equal(t, x.want.UTC(), f.Packets[0].Time)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ raw, want string }{
		"empty": {"", "neither pcap nor pcapng"},
		"text":  {"hello, world", "neither pcap nor pcapng"},
		"gzip":  {"\x1f\x8b\x08\x00rest", "gzip, cut off in its header"},
		"zstd": {"\x28\xb5\x2f\xfdrest", "zstd, which is not unpacked here: unpack it first, as by zstd -dc FILE | " +
			"nictwin replay -"},
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
	require.ErrorContains(t, err, "/dev/zero: is a device: want a file or a pipe")
	_, err = Read("")
	require.EqualError(t, err, `"": no such file or directory`)
	_, err = Read(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// block returns a block of pcapng.
func block(typ uint32, body ...byte) []byte {
	n := uint32(len(body) + 12)
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, typ), n)
	return binary.LittleEndian.AppendUint32(append(b, body...), n)
}

var sectionHeader = block(magicSection, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255)

// Headers and options of a file are checked against the formats; errors give the offset in the file.
func TestHeadersAndOptions(t *testing.T) {
	section := sectionHeader
	iface := func(options ...byte) []byte {
		return bytes.Join([][]byte{section,
			block(blockInterface, append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, options...)...),
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
		{append(iface(), block(blockStatistics, append(make([]byte, 12), 2, 0, 1, 0, 0, 0, 0, 0)...)...),
			"x: offset 84: option 2 of block type 5 with 1 bytes: wants 8"},
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
	files, err := filepath.Glob("../../captures/*/*.pcap")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		f, err := Read(path)
		require.NoError(t, err)
		require.NotEmpty(t, f.Packets, path)
	}
}
