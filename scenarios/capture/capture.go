package capture

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"nictwin/scenarios/files"
)

// MaxFileBytes is the largest file that is read; a capture is held in memory while it is played.
const MaxFileBytes = 1 << 30

// Origin says where a frame was captured.
type Origin struct {
	File   string    // as the user named it
	Packet int       // ordinal in the file, from 1
	Time   time.Time // zero when the file gives none
}

// Packet is one captured frame.
type Packet struct {
	Origin
	Data     []byte // what was captured, from the destination address on
	WireLen  int    // length on the wire as the file tells it; Data may be shorter
	Interval int64  // picoseconds since the packet before; 0 for the first and when time runs backwards
}

// File is a capture in memory.
type File struct {
	Path    string
	Packets []Packet
	Empty   int // packets without a single byte: counted, since no stream can carry them

	SkippedSections int // pcapng sections of an unknown version, skipped as the format demands
}

// Error says where in a capture file something is wrong.
type Error struct {
	Path   string
	Offset int64 // byte offset in the file, -1 when unknown
	Packet int   // ordinal of the packet, from 1; 0 when it is not about a packet
	Err    error
}

func (e *Error) Error() string {
	s := cmp.Or(e.Path, `""`)
	if e.Packet > 0 {
		s += fmt.Sprintf(": packet %d", e.Packet)
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf(": offset %d", e.Offset)
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads a capture file whole. It fails with an *Error when the file is no capture, is cut off or damaged, or
// holds packets of a link type other than Ethernet.
func Read(path string) (*File, error) {
	raw, err := files.Read(path, MaxFileBytes)
	if err == nil {
		return Parse(path, raw)
	}
	var known *fs.PathError
	if errors.As(err, &known) {
		err = known.Err // Error names the file
	}
	return nil, &Error{path, -1, 0, err}
}

// source is what pcapgo's two readers have in common.
type source interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// Parse reads a capture from memory; path is for messages.
func Parse(path string, raw []byte) (f *File, err error) {
	defer func() {
		// The walk has checked every length, but pcapgo indexes options without looking.
		if r := recover(); r != nil {
			f, err = nil, &Error{path, -1, 0, fmt.Errorf("malformed block: %v", r)}
		}
	}()
	kind, err := kindOf(raw)
	if err != nil {
		return nil, &Error{path, 0, 0, err}
	}
	var offsets []int64
	var skipped int
	if kind == kindPcapng {
		offsets, skipped, err = walkPcapng(raw)
	} else {
		offsets, err = walkPcap(raw)
	}
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Path = path
		}
		return nil, err
	}
	src, link, err := open(kind, raw)
	if errors.Is(err, io.EOF) && skipped > 0 {
		return nil, &Error{path, 0, 0, errors.New("no section has version 1.0 of pcapng, which is the one that is read")}
	}
	if err != nil {
		return nil, &Error{path, -1, 0, err}
	}
	f, err = collect(path, src, link, offsets)
	if f != nil {
		f.SkippedSections = skipped
	}
	return f, err
}

// open returns the reader, and the link type of every packet unless packets tell their own.
func open(kind fileKind, raw []byte) (source, *layers.LinkType, error) {
	if kind == kindPcapng {
		r, err := pcapgo.NewNgReader(bytes.NewReader(raw), pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
		return r, nil, err
	}
	r, err := pcapgo.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, nil, err
	}
	r.SetSnaplen(MaxFileBytes) // some writers store packets longer than the length they announce
	link := r.LinkType()
	return r, &link, nil
}

func collect(path string, src source, link *layers.LinkType, offsets []int64) (*File, error) {
	f := &File{Path: path}
	var last time.Time
	for n := 1; ; n++ {
		data, ci, err := src.ReadPacketData()
		if errors.Is(err, io.EOF) {
			if n-1 != len(offsets) {
				return nil, &Error{path, -1, n, fmt.Errorf("%d packets were read but the file holds %d", n-1, len(offsets))}
			}
			return f, nil
		}
		offset := int64(-1)
		if n <= len(offsets) {
			offset = offsets[n-1]
		}
		if err != nil {
			return nil, &Error{path, offset, n, err}
		}
		lt := layers.LinkTypeEthernet
		if link != nil {
			lt = *link
		} else if len(ci.AncillaryData) > 0 {
			lt, _ = ci.AncillaryData[0].(layers.LinkType)
		}
		if lt != layers.LinkTypeEthernet {
			return nil, &Error{path, offset, n, fmt.Errorf("link type %d (%v): only Ethernet (1) can be replayed", int(lt), lt)}
		}
		if len(data) == 0 {
			f.Empty++
			continue
		}
		f.Packets = append(f.Packets, Packet{Origin{path, n, ci.Timestamp}, data, ci.Length, interval(last, ci.Timestamp)})
		last = ci.Timestamp
	}
}

// interval is the time between two packets in picoseconds, saturating.
func interval(from, to time.Time) int64 {
	if from.IsZero() || to.IsZero() || !to.After(from) {
		return 0
	}
	const most = int64(1) << 62
	d := to.Sub(from)
	if int64(d) > most/1000 {
		return most
	}
	return int64(d) * 1000
}

type fileKind int

const (
	kindPcap fileKind = iota
	kindPcapng
)

func kindOf(raw []byte) (fileKind, error) {
	if len(raw) < 4 {
		return 0, fmt.Errorf("%d bytes: neither pcap nor pcapng", len(raw))
	}
	switch m := binary.LittleEndian.Uint32(raw); m {
	case magicSection:
		return kindPcapng, nil
	case magicMicro, magicNano, swap(magicMicro), swap(magicNano):
		return kindPcap, nil
	default:
		if raw[0] == 0x1f && raw[1] == 0x8b {
			return 0, errors.New("gzip: unpack it first")
		}
		return 0, fmt.Errorf("magic number %#08x: neither pcap nor pcapng", m)
	}
}

func swap(v uint32) uint32 { return v<<24 | v<<8&0xff0000 | v>>8&0xff00 | v>>24 }
