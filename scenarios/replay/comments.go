package replay

import (
	"errors"
	"fmt"
	"io"

	"nictwin/golden"
	"nictwin/golden/trace"
	"nictwin/scenarios/board"
	"nictwin/scenarios/files"
)

// frameLog writes the frames that were compared into a pcapng file, with what was found in them. A frame is written when it
// was compared; what is found out about it later is added when the run is over.
type frameLog struct {
	dir  *files.Folder
	out  *trace.Pcapng
	text func(*golden.Mismatch) string // of a comment
	room int64                         // bytes that comments added later may take

	frame trace.Frame                 // at hand
	told  map[*golden.Mismatch]bool   // by a comment
	late  map[trace.PacketID][]string // comments to be added
}

// Bytes kept free for comments added at the end: of a file that has a limit, and of one that has none.
const (
	commentRoom     = 64 << 10
	commentShare    = 16 // at most the limit over this
	commentRoomFree = 16 << 20
)

func newFrameLog(w io.Writer, dir *files.Folder, limit int64, text func(*golden.Mismatch) string) *frameLog {
	l := &frameLog{dir: dir, text: text, room: commentRoomFree, told: map[*golden.Mismatch]bool{}, late: map[trace.PacketID][]string{}}
	if limit > 0 {
		l.room = min(commentRoom, limit/commentShare)
		limit -= l.room
	}
	l.out = trace.NewPcapng(w, limit)
	return l
}

// packetID numbers a frame of the NIC's boundary.
func packetID(f golden.FrameID) trace.PacketID {
	id := trace.PacketID(f.N) | trace.PacketID(f.Port)<<32
	if f.Sent {
		id |= 1 << 40
	}
	return id
}

// compared writes a frame that was compared: what was expected, and what came.
func (l *frameLog) compared(e *golden.FrameEvent) {
	f := &l.frame
	*f = trace.Frame{Ns: e.Cycle * int64(board.Cycle) / 1000, Dir: trace.Outbound, ID: trace.NoID, Comments: f.Comments[:0]}
	if e.Rx {
		f.Dir = trace.Inbound
	}
	if e.Known {
		f.ID = packetID(e.ID)
	}
	if e.Mismatch != nil {
		f.Comments = append(f.Comments, l.text(e.Mismatch))
		l.told[e.Mismatch] = true
	}
	if e.Expected != nil {
		l.out.Packet(trace.Golden, f, e.Expected)
	}
	if e.Got != nil {
		l.out.Packet(trace.DUT, f, e.Got)
	}
}

// found takes what was found in all: what no comment tells yet is to be added.
func (l *frameLog) found(list []*golden.Mismatch) {
	for _, m := range list {
		if m.Frame != nil && !l.told[m] {
			id := packetID(*m.Frame)
			l.late[id] = append(l.late[id], l.text(m))
		}
	}
}

// Close ends the file and adds the comments that came too late.
func (l *frameLog) Close() error {
	if err := l.out.Close(); err != nil {
		return err
	}
	return l.annotate()
}

// annotate adds comments to the file, which is whole: it is as before, or has all of them for which there is room.
func (l *frameLog) annotate() (err error) {
	if len(l.late) == 0 {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("comments in %s: %w", PcapngFile, err)
		}
	}()
	in, err := l.dir.Open(PcapngFile)
	if err != nil {
		return err
	}
	defer in.Close()
	const unfinished = PcapngFile + files.Unfinished
	out, err := l.dir.Create(unfinished)
	if err != nil {
		return err
	}
	_, err = trace.Annotate(out, in, l.late, l.room)
	if err = errors.Join(err, out.Close()); err == nil {
		err = l.dir.Rename(unfinished, PcapngFile)
	}
	if err != nil {
		return errors.Join(err, l.dir.Remove(unfinished))
	}
	return nil
}
