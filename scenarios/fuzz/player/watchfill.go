package player

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
)

// fillWatch tracks how full buffers and rings are, and how many tags are in use.
type fillWatch struct {
	reads [256]openRead // the NIC's reads, by tag
	open  int
	asked int // register reads in flight
	held  [board.MaxPorts]heldPort
}

// openRead is a read request of the NIC in flight.
type openRead struct {
	left  int // bytes to come; 0: the read has ended
	since int64
}

// heldPort tracks a stopped port and, after the stop, the frames that waited for it and leave back to back.
type heldPort struct {
	since                int64 // cycle in which the stop came; 0: the port is not stopped, or frames have left since
	last                 int64 // cycle of the last beat of the latest frame
	goes                 bool  // the frames that waited during the stop are now leaving
	frames, small, bytes int   // of the waiting frames that have left: number, number of short ones, bytes
	beats                int
	lines, sent          int // received lines (64 B) and sent frames since the NIC last sent a TLP
}

const (
	heldCycles = 1000 // a stop of this length fills the buffers in front of the port
	goesCycles = 200  // longest gap between frames that had waited for a stopped port
	oldCycles  = 8192 // a read of this age has timed out
	beatBytes  = 64
	fullFrames = 352 // so many short frames do not fit into the buffers in front of a port
	fullBytes  = 96 << 10
	fullBeats  = 512 + 4 // capacity, in beats, of the transmit buffer and of the path from there to the port
	shortBytes = 128
)

// filling updates the fill levels by a crossing.
func (w *watcher) filling(c *boundary.Crossing) {
	switch c.Kind {
	case boundary.FrameIn:
		w.stopCame(c)
		w.linesCame(c)
	case boundary.FrameOut:
		if c.Frame.Queue != nicspec.PauseQueue {
			w.frameLeft(c)
		}
	case boundary.TLPIn:
		w.answersCame(c)
	case boundary.TLPOut:
		w.tlpLeft(c)
	}
}

// stopCame records the first pause frame that stops a whole port.
func (w *watcher) stopCame(c *boundary.Crossing) {
	b, p := c.Frame.Data, &w.held[c.Port]
	if len(b) < nicspec.FrameMin || [6]byte(b) != pauseMAC || w.ports[c.Port].cfg.RxPause == 0 ||
		binary.BigEndian.Uint16(b[14:]) != nicspec.PauseOpcode {
		return
	}
	if p.since == 0 && binary.BigEndian.Uint16(b[16:]) > 0 {
		p.since, p.goes = c.Last, false
	}
}

func (w *watcher) linesCame(c *boundary.Crossing) {
	n, p := len(c.Frame.Data), &w.held[c.Port]
	if n < nicspec.FrameMin || n > nicspec.FrameMax {
		return
	}
	was := p.lines
	p.lines += (n + beatBytes - 1) / beatBytes
	const sure = (nicspec.RxBufBytes - nicspec.FrameMax) / beatBytes
	const all = nicspec.RxBufBytes / beatBytes
	if was < sure && p.lines >= sure {
		w.cov.Hit("filled", coverage.Filled[5])
	}
	if was < all && p.lines >= all {
		w.cov.Hit("filled", coverage.Filled[6])
	}
}

// frameLeft counts the frames that waited for a stopped port.
func (w *watcher) frameLeft(c *boundary.Crossing) {
	p, n := &w.held[c.Port], len(c.Frame.Data)
	if p.sent++; p.sent == 16 {
		w.cov.Hit("filled", coverage.Filled[7])
	}
	switch {
	case p.since > 0 && c.First-p.since >= heldCycles:
		*p = heldPort{goes: true, lines: p.lines, sent: p.sent}
	case c.First-p.last > goesCycles:
		p.goes = false
	}
	p.last = c.Last
	if !p.goes {
		return
	}
	beats := (n + beatBytes - 1) / beatBytes
	p.frames++
	if n <= shortBytes {
		p.small++
	}
	before := p.bytes
	p.bytes += n
	p.beats += beats
	hit := func(i int, yes bool) {
		if yes {
			w.cov.Hit("behind a held port", coverage.BehindHeld[i], fmt.Sprintf("port %d", c.Port))
		}
	}
	hit(0, p.frames == 64)
	hit(1, p.small == fullFrames && n <= shortBytes)
	hit(2, before < fullBytes && p.bytes >= fullBytes)
	longest := beats == nicspec.FrameMax/beatBytes
	hit(3, longest && p.beats == fullBeats)
	hit(4, longest && p.beats == fullBeats+1)
}

// answersCame follows completions of the NIC's reads, and counts the register reads in flight.
func (w *watcher) answersCame(c *boundary.Crossing) {
	var h tlp.Header
	switch core.DecodeInbound(&c.TLP.Hdr, &h) {
	case core.InRead:
		if w.asked++; w.asked == 512 {
			w.cov.Hit("filled", coverage.Filled[4])
		}
	case core.InCompletion:
		if r := &w.reads[h.Tag]; h.RequesterID == nicspec.RequesterNic && r.left > 0 {
			if r.left -= len(c.TLP.Data); r.left <= 0 || h.Status != tlp.StatusSC {
				r.left = 0
				w.open--
			}
		}
	}
}

func (w *watcher) tlpLeft(c *boundary.Crossing) {
	for i := range w.held {
		w.held[i].lines, w.held[i].sent = 0, 0
	}
	switch h := c.TLP.Parsed(); h.Kind {
	case tlp.Cpl, tlp.CplD:
		w.asked = max(0, w.asked-1)
	case tlp.MRd:
		r := &w.reads[h.Tag]
		if r.left == 0 {
			w.open++
		}
		r.left, r.since = int(h.Length)*tlp.DWBytes, c.Last
		if w.open == len(w.reads) && w.allOpen() {
			w.cov.Hit("filled", coverage.Filled[3])
		}
	}
}

// allOpen reports whether all tags are in use, after removing reads that have certainly timed out.
func (w *watcher) allOpen() bool {
	for i := range w.reads {
		if w.now-w.reads[i].since > oldCycles {
			w.reads[i].left = 0
			w.open--
		}
	}
	return w.open == len(w.reads)
}

// rang counts a doorbell that fills the ring, and the number of transmit queues with entries.
func (w *watcher) rang(r *ring, taken uint16, queues int) {
	switch {
	case int(taken) != r.Size():
	case r.Tx:
		w.cov.Hit("filled", coverage.Filled[0])
	default:
		w.cov.Hit("filled", coverage.Filled[1])
	}
	if queues == min(64, w.sizes.NumTxq) {
		w.cov.Hit("filled", coverage.Filled[2])
	}
}

const round = 1 << 16 // number of values of a 16-bit index

// rxBeyond counts a receive queue that has delivered more frames than there are indices.
func (w *watcher) rxBeyond(r *rxRing) {
	if r.frees == round+1 {
		w.cov.Hit("indices beyond 65,536", coverage.Beyond[0])
	}
}

// txBeyond counts a transmit queue whose indices wrap. blocks is the number of blocks that ended since the previous
// completion entry.
func (w *watcher) txBeyond(r *txRing, blocks int) {
	if r.over > round && r.over-blocks <= round {
		w.cov.Hit("indices beyond 65,536", coverage.Beyond[1])
		if r.across {
			w.cov.Hit("indices beyond 65,536", coverage.Beyond[3])
		}
	}
	if r.ends == round+1 {
		w.cov.Hit("indices beyond 65,536", coverage.Beyond[2])
	}
}
