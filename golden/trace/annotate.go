package trace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// Annotate copies a file written by [Pcapng] and adds comments to its frames: findings that came
// after the frame was written. The copy grows by at most `room` bytes; comments that do not
// fit are left out. It returns the number of comments added; a comment of a frame on both interfaces
// counts twice.
func Annotate(w io.Writer, r io.Reader, comments map[PacketID][]string, room int64) (added int, err error) {
	a := annotator{comments: comments, room: room, r: bufio.NewReaderSize(r, 1<<16), w: bufio.NewWriterSize(w, 1<<16)}
	for err == nil {
		err = a.block()
	}
	if err != io.EOF {
		return a.added, fmt.Errorf("trace: pcapng: offset %d: %w", a.at, err)
	}
	if err := a.w.Flush(); err != nil {
		return a.added, fmt.Errorf("trace: pcapng: %w", err)
	}
	return a.added, nil
}

type annotator struct {
	comments map[PacketID][]string
	room     int64
	added    int
	at       int64 // offset of the current block
	r        *bufio.Reader
	w        *bufio.Writer
	buf      []byte
}

// Sizes of parts of pcapng blocks, in bytes.
const (
	blockHead    = 8  // type and length
	blockFoot    = 4  // length again
	enhancedHead = 20 // interface, time, lengths
	maxBlock     = 1 << 21
)

// block copies the next block; at the end of the file its error is io.EOF.
func (a *annotator) block() error {
	head, err := a.r.Peek(blockHead)
	if err == io.EOF && len(head) == 0 {
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("the file ends in a block: %w", noEOF(err))
	}
	n := int(binary.LittleEndian.Uint32(head[4:]))
	if n < blockHead+blockFoot || n > maxBlock || n%4 != 0 {
		return fmt.Errorf("a block of %d bytes: want a multiple of 4, %d to %d", n, blockHead+blockFoot, maxBlock)
	}
	a.buf = slices.Grow(a.buf[:0], n)[:n]
	if _, err := io.ReadFull(a.r, a.buf); err != nil {
		return fmt.Errorf("the file ends in a block: %w", noEOF(err))
	}
	a.at += int64(n)
	if binary.LittleEndian.Uint32(a.buf) == blockEnhanced {
		a.annotate()
	}
	_, err = a.w.Write(a.buf)
	return err
}

// noEOF distinguishes an end within a block from the end of the file.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// annotate adds its comments to the current packet, before its other options.
func (a *annotator) annotate() {
	at, id := packetOptions(a.buf)
	list := a.comments[id]
	if id == NoID || len(list) == 0 {
		return
	}
	e := Pcapng{buf: append([]byte(nil), a.buf[:at]...)}
	taken := 0
	for _, c := range list {
		before := len(e.buf)
		e.comment(c)
		if int64(len(e.buf)-at) > a.room {
			e.buf = e.buf[:before]
			break
		}
		taken++
	}
	a.room -= int64(len(e.buf) - at)
	a.added += taken
	e.buf = append(e.buf, a.buf[at:len(a.buf)-blockFoot]...)
	e.seal()
	a.buf = e.buf
}

// packetOptions finds the offset of a packet's options, and the packet's number among them.
func packetOptions(b []byte) (at int, id PacketID) {
	options := b[:len(b)-blockFoot]
	if len(options) < blockHead+enhancedHead {
		return len(options), NoID
	}
	size := int64(binary.LittleEndian.Uint32(b[blockHead+12:]))
	if size > int64(len(options)) {
		return len(options), NoID
	}
	at = blockHead + enhancedHead + (int(size)+3)&^3
	for o := at; o+4 <= len(options); {
		code, n := binary.LittleEndian.Uint16(b[o:]), int(binary.LittleEndian.Uint16(b[o+2:]))
		if code == optPacketID && n == 8 && o+12 <= len(options) {
			return at, PacketID(binary.LittleEndian.Uint64(b[o+4:]))
		}
		if code == optEnd {
			break
		}
		o += 4 + (n+3)&^3
	}
	return at, NoID
}
