package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Reader reads the packets of a capture in order.
type Reader struct {
	path   string
	in     *bufio.Reader // buffer in use: packed or plain
	packed buffered      // reads the file's bytes
	plain  buffered      // the bytes unpacked from gzip
	gzip   unpacker
	format format
	close  func() error              // closes the source; may be nil
	again  func() (io.Reader, error) // returns the source from its start; nil: a second reading is impossible

	at    int64 // offset of the next byte
	begin int64 // offset of the current packet or block
	got   int64 // bytes of the current packet or block read so far
	buf   []byte
	n     int       // number of packets so far
	last  time.Time // time of the previous packet
	empty int
	cut   *CutOff
	out   Packet // what Next returns
	err   error  // error that ended the reader
}

// format reads packets of pcap or pcapng. A packet is valid until the next call. At the end of the file the error is
// io.EOF, or *cutError if the file ends within a packet or block.
type format interface {
	header(r *Reader) error // reads the header of the file
	next(r *Reader) (captured, error)
	skipped() int
}

// captured is a packet as stored in the file.
type captured struct {
	link int
	data []byte
	wire int // length on the wire
	time time.Time
}

// cutError reports that a file ends too early.
type cutError struct{ missing int64 }

func (e *cutError) Error() string { return fmt.Sprintf("cut off: %d bytes are missing", e.missing) }

// bufferBytes is the size of a read from a file.
const bufferBytes = 1 << 16

// newReader returns a reader of a capture.
func newReader(path string, in io.Reader) (*Reader, error) {
	r := &Reader{path: path}
	return r, r.reset(in)
}

// parse returns a reader of a capture in memory.
func parse(path string, raw []byte) (*Reader, error) { return newReader(path, bytes.NewReader(raw)) }

// reset starts reading a source.
func (r *Reader) reset(in io.Reader) error {
	r.at, r.n, r.empty = 0, 0, 0
	r.last, r.cut, r.err = time.Time{}, nil, nil
	r.in, r.gzip.garbage = r.packed.of(in), false
	if err := r.unpack(); err != nil {
		return r.fail(0, 0, err)
	}
	magic, err := r.in.Peek(longestMagic)
	if err != nil && !atEnd(err) {
		return r.fail(0, 0, err)
	}
	if r.format, err = formatOf(magic); err != nil {
		return r.fail(0, 0, err)
	}
	return r.format.header(r)
}

// Rewind goes back to the first packet.
func (r *Reader) Rewind() error {
	in, err := r.again()
	if err != nil {
		return r.fail(-1, 0, err)
	}
	return r.reset(in)
}

// unpack makes the reader unpack the file if it is gzip.
func (r *Reader) unpack() error {
	if !isGzip(r.in) {
		return nil
	}
	err := r.gzip.reset(r.in)
	r.in = r.plain.of(&r.gzip)
	return err
}

// buffered is a bufio.Reader that is allocated once and reused.
type buffered struct{ *bufio.Reader }

func (b *buffered) of(in io.Reader) *bufio.Reader {
	if b.Reader == nil {
		b.Reader = bufio.NewReaderSize(in, bufferBytes)
	}
	b.Reset(in)
	return b.Reader
}

// packers lists compressions that are recognized but not supported, with the commands that unpack them.
var packers = []struct{ magic, name, unpack string }{
	{"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"}, {"\xfd7zX", "xz", "xz -dc"}, {"BZh", "bzip2", "bzip2 -dc"},
	{"\x04\x22\x4d\x18", "lz4", "lz4 -dc"}, {"\x1f\x8b", "gzip within gzip", "gzip -dc"},
	{"PK\x03\x04", "zip", "unzip -p"},
}

// variants lists capture formats that editcap can convert, by the first bytes of their files.
var variants = []struct{ magic, name string }{
	{"\xa1\xb2\xcd\x34", modified}, {"\x34\xcd\xb2\xa1", modified}, {"\x1c\x00\x01\xac", ixia},
	{"\xac\x01\x00\x1c", ixia},
	{"\x1c\x00\x01\xab", ixia}, {"\xab\x01\x00\x1c", ixia}, {"snoop\x00\x00\x00", "snoop"},
	{"RTSS", "Network Monitor 1"}, {"GMBU", "Network Monitor 2"},
}

const (
	modified = `"modified" pcap (Kuznetzov's, with interface and protocol in each record)`
	ixia     = "pcap as Ixia has it"
)

// longestMagic is the length in bytes of the longest magic number.
const longestMagic = 8

// formatOf recognizes the format of a file by its first bytes, which may be fewer than longestMagic. The error about
// another kind of file does not quote them.
func formatOf(magic []byte) (format, error) {
	for _, p := range packers {
		if bytes.HasPrefix(magic, []byte(p.magic)) {
			return nil, fmt.Errorf("%s, which is not unpacked here: unpack it first, as by %s FILE | nictwin replay -",
				p.name, p.unpack)
		}
	}
	for _, v := range variants {
		if bytes.HasPrefix(magic, []byte(v.magic)) {
			return nil, fmt.Errorf("%s, which is not read here: convert it first, as by editcap -F pcap FILE "+
				"converted.pcap", v.name)
		}
	}
	if len(magic) < 4 {
		return nil, fmt.Errorf("%d bytes: neither pcap nor pcapng", len(magic))
	}
	switch binary.LittleEndian.Uint32(magic) {
	case magicSection:
		return &pcapngFormat{order: binary.LittleEndian}, nil
	case magicMicro, magicNano, swap(magicMicro), swap(magicNano):
		return &pcapFormat{}, nil
	default:
		return nil, errors.New("neither pcap nor pcapng: it begins with no magic number of theirs")
	}
}

func swap(v uint32) uint32 { return v<<24 | v<<8&0xff0000 | v>>8&0xff00 | v>>24 }

// Next returns the next packet with at least one byte, and io.EOF after the last complete one. The packet and its bytes
// are valid until the next call. Other errors are an *Error.
func (r *Reader) Next() (*Packet, error) {
	for r.err == nil {
		r.begin, r.got = r.at, 0
		c, err := r.format.next(r)
		if err != nil {
			r.err = r.end(err)
			break
		}
		r.n++
		data, wire, err := ethernet(c.link, c.data, c.wire)
		if err != nil {
			r.err = r.fail(r.begin, r.n, err)
			break
		}
		if len(data) == 0 {
			r.empty++
			continue
		}
		r.out = Packet{Origin{r.path, r.n, c.time}, data, wire, r.begin, interval(r.last, c.time)}
		r.last = c.time
		return &r.out, nil
	}
	return nil, r.err
}

// end turns the error at the end of reading into what Next returns: io.EOF for the end of the file, even if it is cut
// off, and an *Error for a fault.
func (r *Reader) end(err error) error {
	var known *Error
	var cut *cutError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &cut):
		r.cut = &CutOff{r.path, r.begin, r.n, r.got, cut.missing}
		return io.EOF
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return r.fail(r.begin, 0, err)
}

func (r *Reader) fail(offset int64, packet int, err error) error {
	return &Error{r.path, offset, packet, err}
}

// Empty returns the number of packets without a byte so far.
func (r *Reader) Empty() int { return r.empty }

// SkippedSections returns the number of pcapng sections of an unknown version so far.
func (r *Reader) SkippedSections() int { return r.format.skipped() }

// CutOff describes where a truncated file ends; nil before its end is reached.
func (r *Reader) CutOff() *CutOff { return r.cut }

// Garbage reports whether other bytes, which are ignored, follow the gzip members of a file that has been read to its
// end.
func (r *Reader) Garbage() bool { return r.gzip.garbage }

// Close closes the reader.
func (r *Reader) Close() error {
	if r.close == nil {
		return nil
	}
	return r.close()
}

// more reads n more bytes of the current packet or block into the buffer, after its first `from` bytes, and returns the
// buffer. At the start of a packet or block, the end of the file is io.EOF.
func (r *Reader) more(from, n int) ([]byte, error) {
	if need := from + n; need > cap(r.buf) {
		r.buf = append(make([]byte, 0, max(need, 2*cap(r.buf))), r.buf[:from]...)
	}
	r.buf = r.buf[:from+n]
	m, err := io.ReadFull(r.in, r.buf[from:])
	first := r.got == 0 && m == 0
	r.at += int64(m)
	r.got += int64(m)
	switch {
	case err == nil || first && errors.Is(err, io.EOF):
		return r.buf, err
	case atEnd(err):
		return nil, &cutError{int64(n - m)}
	}
	return nil, err
}

// atEnd reports whether an error means the end of the file, or of a truncated gzip file.
func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
