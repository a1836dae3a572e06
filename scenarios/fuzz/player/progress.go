package player

import (
	"encoding/binary"
	"fmt"
	"strings"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/observe/result"
)

// openReads tracks the NIC's reads in flight.
type openReads struct {
	byTag   map[uint8]nicRead
	order   []uint8 // tags of byTag, oldest read first
	timeout int64   // cycles after which a read fails, as configured by software [P6]
}

// nicRead is a read that waits for completions.
type nicRead struct {
	addr  uint64
	bytes int
	left  int // bytes still to come
	cycle int64
}

// watchReads follows the NIC's reads and their completions.
func (x *player) watchReads(c boundary.Crossing) {
	if c.Kind != boundary.TLPOut && c.Kind != boundary.TLPIn {
		return
	}
	h := c.TLP.Parsed()
	switch {
	case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd:
		offset, n := h.Span()
		x.nic.add(h.Tag, nicRead{h.Address + uint64(offset), n, n, c.Last})
	case c.Kind == boundary.TLPIn && h.Kind == tlp.MWr && h.Address == nicspec.BarBase+nicspec.RegCplTimeout &&
		len(c.TLP.Data) == tlp.DWBytes:
		x.nic.timeout = int64(binary.LittleEndian.Uint32(c.TLP.Data))
	case c.Kind == boundary.TLPIn && (h.Kind == tlp.CplD || h.Kind == tlp.Cpl) && h.RequesterID == nicspec.RequesterNic:
		if r, ended := x.nic.completed(h, len(c.TLP.Data)); ended {
			x.wasRead(r.addr, r.bytes)
		}
	}
}

func (o *openReads) add(tag uint8, r nicRead) {
	if o.byTag == nil {
		o.byTag = map[uint8]nicRead{}
	}
	if _, open := o.byTag[tag]; open { // the tag is reused, so its earlier read timed out
		o.drop(tag)
	}
	o.byTag[tag] = r
	o.order = append(o.order, tag)
}

// expire drops reads that failed for lack of an answer.
func (o *openReads) expire(now int64) {
	for len(o.order) > 0 && now-o.byTag[o.order[0]].cycle > max(o.timeout, leastTimeout)+nicspec.VisibleCycles {
		o.drop(o.order[0])
	}
}

// completed handles a completion and reports whether its read has ended: with its last byte, or because the
// completion is malformed [P6].
func (o *openReads) completed(h *tlp.Header, n int) (r nicRead, ended bool) {
	tag := h.Tag
	r, ok := o.byTag[tag]
	if !ok {
		return r, false
	}
	at := r.addr + uint64(r.bytes-r.left)
	n -= int(at % tlp.DWBytes)
	const boundary = 64 // smallest read completion boundary: only the last completion may end elsewhere
	well := h.Kind == tlp.CplD && h.Status == tlp.StatusSC && !h.EP && int(h.ByteCount) == r.left &&
		h.LowerAddr == uint8(at&0x7f)
	if well && n < r.left && (at+uint64(n))%boundary == 0 {
		r.left -= n
		o.byTag[tag] = r
		return r, false
	}
	o.drop(tag)
	return r, true
}

func (o *openReads) drop(tag uint8) {
	delete(o.byTag, tag)
	for i, t := range o.order {
		if t == tag {
			o.order = append(o.order[:i:i], o.order[i+1:]...)
			return
		}
	}
}

// within returns the oldest waiting read that touches n bytes from an address on.
func (o *openReads) within(addr uint64, n int) (nicRead, bool) {
	for _, tag := range o.order {
		if r := o.byTag[tag]; r.addr < addr+uint64(n) && addr < r.addr+uint64(r.bytes) {
			return r, true
		}
	}
	return nicRead{}, false
}

func (r nicRead) String() string {
	part := ""
	if r.left < r.bytes {
		part = fmt.Sprintf(", of which %d B are missing", r.left)
	}
	return fmt.Sprintf("the completion of a read of %d B at %#x%s, sent in cycle %d", r.bytes, r.addr, part, r.cycle)
}

// wasRead records which slots of rings a finished read has fetched.
func (x *player) wasRead(addr uint64, n int) {
	mark := func(r *ring) {
		if r.fetched == nil || addr < r.Base {
			return
		}
		end := min(addr+uint64(n), r.Base+uint64(r.Bytes()))
		for at := addr; at < end; at += uint64(r.Slot) {
			r.fetched[int(at-r.Base)/r.Slot] = true
		}
	}
	for _, r := range x.rx {
		mark(&r.ring)
	}
	for _, r := range x.tx {
		mark(&r.ring)
	}
}

// filled records that a slot has new contents, which the NIC has not read.
func (r *ring) filled(index uint16) {
	if r.fetched == nil {
		r.fetched = make([]bool, r.Size())
	}
	r.fetched[r.Place(index)] = false
}

// blocked describes each queue with unfinished work, and the reads in flight that belong to none.
func (x *player) blocked() []Blocked {
	x.nic.expire(x.b.NIC.Cycles())
	var all []Blocked
	reported := map[uint64]bool{} // addresses of reads reported so far
	for _, q := range sorted(x.tx) {
		if s, ok := x.tx[q].blocked(reported); ok {
			all = append(all, s)
		}
	}
	for _, q := range sorted(x.rx) {
		if s, ok := x.rx[q].blocked(reported); ok {
			all = append(all, s)
		}
	}
	const most = 4
	for _, tag := range x.nic.order {
		if r := x.nic.byTag[tag]; !reported[r.addr] && len(all) < len(x.tx)+len(x.rx)+most {
			all = append(all, Blocked{result.Device, 0, noIndex, fmt.Sprintf("tag %#x: waits for %v", tag, r)})
		}
	}
	if played := x.unplayed(); played != "" {
		all = append(all, Blocked{result.Device, 0, noIndex, played})
	}
	return all
}

// unplayed lists the ports with played frames that the NIC has not taken.
func (x *player) unplayed() string {
	var ports []string
	for i, p := range x.b.Players {
		if p.Sent() != p.Total() {
			ports = append(ports, fmt.Sprintf("port %d: %d of %d frames taken", i, p.Sent(), p.Total()))
		}
	}
	return strings.Join(ports, ", ")
}

// blocked describes the oldest work entry that is not known to have ended. An entry without a completion request is
// known to be unfinished only while one of its reads is in flight. Without such an entry, it describes an unanswered
// read of the ring, if there is one.
func (r *txRing) blocked(reported map[uint64]bool) (Blocked, bool) {
	for at := r.done; !r.event && at != r.PI; {
		s := r.work[r.Place(at)]
		if s == nil {
			break
		}
		if state := r.state(at, s, reported); state != "" {
			return Blocked{result.Tx, r.Number, int(at),
				fmt.Sprintf("txq %d: entry %d posted, %s", r.Number, at, state)}, true
		}
		at += s.blocks()
	}
	return r.blockedRead(reported)
}

// state says how far an entry got and what it waits for; empty if the entry may have ended.
func (r *txRing) state(at uint16, s *sent, reported map[uint64]bool) string {
	if int16(r.rung-at) <= 0 {
		return "its doorbell was not rung"
	}
	if fetch, open := r.x.nic.within(r.At(at), r.Slot); open {
		reported[fetch.addr] = true
		return "not fetched, waits for " + fetch.String()
	}
	if !r.fetched[r.Place(at)] {
		return "its doorbell was rung, never fetched"
	}
	for i, addr := range s.seg {
		if p, open := r.x.nic.within(addr, int(s.e.Pieces[i].Len)); open {
			reported[p.addr] = true
			return "fetched, waits for " + p.String()
		}
	}
	if nicspec.Wqe(s.raw).FComplete() {
		return "fetched, waits for no read, has no completion entry"
	}
	return ""
}

// blocked describes the oldest unanswered read of descriptors.
func (r *rxRing) blocked(reported map[uint64]bool) (Blocked, bool) { return r.blockedRead(reported) }

// blockedRead describes the oldest unanswered read of the ring.
func (r *ring) blockedRead(reported map[uint64]bool) (Blocked, bool) {
	w, open := r.x.nic.within(r.Base, r.Bytes())
	if !open {
		return Blocked{}, false
	}
	reported[w.addr] = true
	place := int(w.addr-r.Base) / r.Slot
	index := int(uint16(place)) // index of the slot in the latest lap
	for i := r.PI - 1; i != r.PI-1-uint16(r.Size()); i-- {
		if r.Place(i) == place {
			index = int(i)
			break
		}
	}
	domain, kind, what := result.Rx, "rxq", "descriptor"
	if r.Tx {
		domain, kind, what = result.Tx, "txq", "entry"
	}
	return Blocked{domain, r.Number, index, fmt.Sprintf("%s %d: %s %d posted, not fetched, waits for %v", kind,
		r.Number, what, index, w)}, true
}

// statusText describes a value of STATUS.
func statusText(v uint32) string {
	s := nicspec.StatusReg(v)
	var on []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"rx_busy", s.RxBusy()}, {"tx_busy", s.TxBusy()}, {"reads_outstanding", s.ReadsOutstanding()}} {
		if f.set {
			on = append(on, f.name)
		}
	}
	if len(on) == 0 {
		return fmt.Sprintf("STATUS reads %#x", v)
	}
	return fmt.Sprintf("STATUS reads %#x: %s", v, strings.Join(on, ", "))
}
