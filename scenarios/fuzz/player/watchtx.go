package player

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
)

const CopyChannels = 4 // [D7]

func inlineClass(n int) string {
	switch {
	case n == 0:
		return "nothing inline"
	case n <= 16:
		return "1..16 B inline"
	case n <= 32:
		return "17..32 B inline"
	}
	return "33..48 B inline"
}

func pieceClass(n uint32) string {
	switch {
	case n < 4:
		return "1..3 B"
	case n < 64:
		return "4..63 B"
	case n < 512:
		return "64..511 B"
	case n < 4096:
		return "512..4095 B"
	}
	return "4096 B and more"
}

// ended counts a work entry that ended with a completion entry, with its fields as they were in memory.
func (w *watcher) ended(r *txRing, c nicspec.TxCqe, s *sent) {
	if w.cov == nil || r.ends > mostCounted {
		return
	}
	e := nicspec.DecodeWqe(s.raw)
	status := c.Status()
	w.blocks(r, c.Index(), s, &e, status)
	w.rareEntry(&e, s, status)
	w.behindHeld(r, &e, s, status)
	w.cov.Hit("transmit rings", coverage.LogClass(r.Log), lap(c.Index(), r.Log))
	w.cov.Hit("transmit queues", numberClass(r.Number, w.sizes.NumTxq))
	switch {
	case e.Opcode == nicspec.OpcodeNop:
		w.cov.Hit("work entries", "Nop", status.String(), w.stall)
		return
	case e.Opcode >= nicspec.OpcodeCopy && e.Opcode <= nicspec.OpcodeCopyInvalidate && w.sizes.Has(nicspec.PartCopy):
		w.copied(r.Number, &e, status)
		w.fenced(&e, s, status)
		return
	case e.Opcode != nicspec.OpcodeSend:
		w.cov.Hit("work entries", "other", status.String(), w.stall)
		return
	}
	w.cov.Hit("work entries", "Send", status.String(), w.stall)
	if !e.FComplete {
		w.cov.Hit("completions unasked", status.String())
	}
	w.offloads(&e, status)
	w.appended(&e, s, status)
	if status == nicspec.StatusOk {
		w.frame(&e, s)
		for i, bus := range s.seg[:min(len(s.seg), len(s.e.Pieces)*unpatched(s.e))] {
			w.piece(bus, s.e.Pieces[i].Len)
		}
	}
}

// offloads counts the offloads that an entry requested, and whether it was refused.
func (w *watcher) offloads(e *nicspec.WqeFields, s nicspec.Status) {
	if s != nicspec.StatusOk && s != nicspec.StatusBadOffload {
		return
	}
	udp := "no"
	switch {
	case e.FUdpCsum:
		udp = "sum"
	case e.FUdpZero:
		udp = "zero"
	}
	w.cov.Hit("offloads", fmt.Sprintf("IP %v", e.FIpCsum), "UDP "+udp, fmt.Sprintf("ICRC %v", e.FIcrc), s.String())
	if e.FCrc32c && w.sizes.Has(nicspec.PartCrc32c) {
		w.cov.Hit("CRC-32C sent", s.String())
	}
}

// frame counts an entry whose frame has left.
func (w *watcher) frame(e *nicspec.WqeFields, s *sent) {
	n := int(e.InlineLen)
	at := nicspec.WqeBytes - len(e.Slots) + program.InlineSlots(n)*nicspec.WqeSlotBytes
	for i := range int(e.Nseg) {
		seg := nicspec.DecodeSeg(s.raw[at+i*nicspec.WqeSlotBytes:])
		n += int(seg.Len)
	}
	w.cov.Hit("transmit ports", fmt.Sprintf("port %d", e.Port))
	if e.Blocks > 0 || e.FAppend {
		return // copies have bins of their own
	}
	w.cov.Hit("transmit", lengthClass(n), fmt.Sprintf("%d pieces", e.Nseg), inlineClass(int(e.InlineLen)), w.stall)
}

// piece counts a piece that the NIC has read, by length and alignment.
func (w *watcher) piece(bus uint64, n uint32) {
	w.cov.Hit("pieces", pieceClass(n), alignClass(bus), coverage.RegionNames[regionOf(bus)])
	w.cov.Hit("piece pages", pages(bus, int(n)), fmt.Sprintf("MRRS %d", mrrs(w.devctl)))
}

// copied counts an entry of the copy engine.
func (w *watcher) copied(queue int, e *nicspec.WqeFields, s nicspec.Status) {
	if s == nicspec.StatusFlushed {
		w.cov.Hit("resets", "a copy is cut off")
		return
	}
	w.cov.Hit("copies", e.Opcode.String(), s.String(), w.stall)
	switch last := &w.failed[queue%CopyChannels]; {
	case s >= nicspec.StatusCplUnsupported && s <= nicspec.StatusCplMalformed:
		*last = s.String()
	case s == nicspec.StatusOk && *last != "":
		w.cov.Hit("copies after one that failed", *last, e.Opcode.String())
		*last = ""
	}
	if s != nicspec.StatusOk || e.Opcode == nicspec.OpcodeInvalidate {
		return
	}
	from, to := nicspec.DecodeSeg(e.Slots[:]), nicspec.DecodeSeg(e.Slots[nicspec.WqeSlotBytes:])
	w.longCopy(int(from.Len))
	w.cov.Hit("copied", pieceClass(from.Len), "from "+alignClass(from.Addr), "to "+alignClass(to.Addr))
}

// unpatched returns 1 for an entry whose pieces no patch has changed, else 0.
func unpatched(e *program.Entry) int {
	if len(e.Patch) > 0 || e.Noise == program.NoiseAll {
		return 0
	}
	return 1
}
