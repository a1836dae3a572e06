package player

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
)

func longInline(n int) string {
	switch {
	case n == 0:
		return coverage.InlineWords[0]
	case n <= nicspec.InlineMax:
		return coverage.InlineWords[1]
	case n <= 112:
		return coverage.InlineWords[2]
	}
	return coverage.InlineWords[3]
}

func longPieces(n int) string {
	switch {
	case n == 0:
		return coverage.PieceWords[0]
	case n < 4:
		return coverage.PieceWords[1]
	}
	return coverage.PieceWords[2]
}

// blocks counts an ended entry by its number of blocks and its status.
func (w *watcher) blocks(r *txRing, index uint16, s *sent, e *nicspec.WqeFields, status nicspec.Status) {
	if !w.sizes.Has(nicspec.PartLong) {
		return
	}
	n := int(s.blocks())
	what := "other"
	switch {
	case e.Opcode <= nicspec.OpcodeCopyInvalidate && (e.Opcode <= nicspec.OpcodeSend || w.sizes.Has(nicspec.PartCopy)):
		what = e.Opcode.String()
	}
	how := "Ok"
	if status != nicspec.StatusOk {
		how = "failed"
	}
	w.cov.Hit("blocks", what, how, coverage.BlockWords[n-1])
	if first := r.Place(index); first+n > r.Size() {
		w.cov.Hit("entries that wrap", coverage.BlockWords[n-1])
	}
	if n > 1 && e.Opcode == nicspec.OpcodeSend && status == nicspec.StatusOk {
		w.cov.Hit("transmit, long", longInline(int(e.InlineLen)), longPieces(int(e.Nseg)), w.stall)
	}
}

// appended counts an entry that requests a trailer [T15].
func (w *watcher) appended(e *nicspec.WqeFields, s *sent, status nicspec.Status) {
	if !e.FAppend || !w.sizes.Has(nicspec.PartAppend) {
		return
	}
	if status != nicspec.StatusOk || unpatched(s.e) == 0 {
		if status >= nicspec.StatusBadFormat {
			w.cov.Hit("appended", statusClass(status))
		}
		return
	}
	frame := s.e.Frame.Bytes(s.e.Frame.Len)
	if at := int(e.L4Off) + 9; at < len(frame) {
		version := "Ipv4"
		if l4, l3 := int(e.L4Off), int(e.L3Off); l4-l3 == 40 && frame[l3]>>4 == 6 {
			version = "Ipv6"
		}
		w.cov.Hit("appended", version, coverage.PadWords[frame[at]>>4&3])
	}
}

func statusClass(s nicspec.Status) string {
	switch s {
	case nicspec.StatusBadFormat, nicspec.StatusBadLength, nicspec.StatusBadOffload:
		return s.String()
	}
	return "another status"
}

// fenced counts a copy with a fence, and whether source and destination have the same offset within a line.
func (w *watcher) fenced(e *nicspec.WqeFields, s *sent, status nicspec.Status) {
	how := "Ok"
	if status != nicspec.StatusOk {
		how = "failed"
	}
	if e.FFence && w.sizes.Has(nicspec.PartFence) {
		w.cov.Hit("fences", e.Opcode.String(), how)
	}
	if status == nicspec.StatusOk && len(s.seg) == 2 && unpatched(s.e) == 1 {
		lie := "lines differ"
		if s.seg[0]%nicspec.LineBytes == s.seg[1]%nicspec.LineBytes {
			lie = "lines agree"
		}
		w.cov.Hit("lines", lie, pieceClass(s.e.Pieces[0].Len))
	}
}

// trimmed counts a frame taken by a queue with trim [R14].
func (w *watcher) trimmed(r *rxRing, c nicspec.RxCqe) {
	if r.cfg.Trim == 0 || !w.sizes.Has(nicspec.PartTrim) {
		return
	}
	switch split := r.cfg.Split.String(); {
	case c.HdrLen()+c.PayLen() != c.FrameLen():
		w.cov.Hit("trimmed", "split "+split, coverage.PadWords[c.BthFlags()>>4&3])
	case c.Roce():
		w.cov.Hit("trimmed", "RoCE placed whole")
	default:
		w.cov.Hit("trimmed", "another frame")
	}
}

// pushed counts a pushed entry.
func (w *watcher) pushed(s *sent) {
	w.cov.Hit("push", "pushed")
	if n := s.blocks(); n > 1 {
		how := "all blocks"
		if s.e.Rung&(1<<n-1) != 0 {
			how = "some blocks"
		}
		w.cov.Hit("push", how)
	}
}

// inside counts, for coverage, a doorbell whose index may lie between two blocks of one entry.
func (w *watcher) inside(r *txRing) {
	if !w.sizes.Has(nicspec.PartLong) {
		return
	}
	for i := range uint16(nicspec.WqeBlocksMax) {
		if s := r.work[r.Place(r.rung-i)]; i > 0 && s != nil && s.blocks() > i {
			w.cov.Hit("doorbells inside an entry", fmt.Sprintf("after %d blocks", i))
			if port := s.sendsOn(); port >= 0 && port < w.sizes.Ports && w.sizes.Has(nicspec.PartPause) &&
				r.x.portFull(port) {
				w.cov.Hit("doorbells inside, port full", fmt.Sprintf("after %d blocks", i))
			}
			return
		}
	}
}

// rewritten counts a shared buffer that software rewrites.
func (w *watcher) rewritten(o *program.Rewrite) {
	w.cov.Hit("shared buffers", "rewritten", coverage.RegionNames[o.Place.Region()])
}

// late counts a two-DW write of TBL_DATA after a command.
func (w *watcher) late() { w.cov.Hit("rare", "two DWs of TBL_DATA while busy") }

// rareEntry counts an ended work entry with rare properties.
func (w *watcher) rareEntry(e *nicspec.WqeFields, s *sent, status nicspec.Status) {
	if status == nicspec.StatusBadKey {
		at := nicspec.WqeBytes - len(e.Slots) + program.InlineSlots(int(e.InlineLen))*nicspec.WqeSlotBytes
		for range int(e.Nseg) {
			if at+nicspec.SegSize > len(s.raw) {
				break
			}
			if nicspec.Seg(s.raw[at:]).Key()&0x8000 != 0 {
				w.cov.Hit("rare", "key index with bit 15")
			}
			at += nicspec.WqeSlotBytes
		}
	}
	if e.FCrc32c && (status == nicspec.StatusOk || status == nicspec.StatusBadOffload) && unpatched(s.e) == 1 {
		frame := s.e.Frame.Bytes(s.e.Frame.Len)
		if at := int(e.L4Off) + 4; e.FIcrc && at+2 <= len(frame) {
			end := int(e.L4Off) + int(binary.BigEndian.Uint16(frame[at:]))
			if d := int(e.CrcOff) - end; d >= -8 && d <= 4 {
				w.cov.Hit("rare", "crc_off about the UDP end")
			}
		}
	}
}

// rareFrame counts a received frame with rare properties.
func (w *watcher) rareFrame(f *ether.Frame) {
	if len(f.Data) > 16<<10 {
		w.cov.Hit("rare", "frame of more than 16,384 B")
	}
}

// rareQueue counts a receive queue with rare settings that took a frame.
func (w *watcher) rareQueue(r *rxRing) {
	if r.cfg.Split == nicspec.SplitModeFixed && r.cfg.SplitLen >= 1<<14 {
		w.cov.Hit("rare", "split_len 16,384 and more")
	}
}
