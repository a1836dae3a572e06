package blocks

import (
	"fmt"
	"math/bits"
	"slices"

	"nictwin/models/tlp"
)

// Writes of a block come in beats of so many bytes, as blk_writes_pkg has them; the last beat of a result is none of a
// TLP and tells the rest.
const (
	writeBeat = 160
	writeData = 128 // bytes of the payload, then the header and
	writeKeep = writeData + tlp.HeaderBytes
	writeLast = writeKeep + 4
	writeEnd  = writeLast + 1 // whether the TLP is a completion entry
)

// writesFault is what is wrong with the writes of a result: a rule of PCIe, or one of these.
type writesFault uint8

const (
	writesTwice writesFault = 64 + iota
	writesHole
	writesLate
	writesAttr
	writesKind
	writesNames
)

func (v writesFault) String() string {
	names := [...]string{"a byte is written twice", "a byte between others is not written", "a write follows the completion entry",
		"attributes of a part differ", "no such write"}
	switch {
	case v == 0:
		return "right"
	case v <= writesFault(tlp.NumRules):
		return tlp.Rule(v).String()
	case v >= writesTwice && v < writesNames:
		return names[v-writesTwice]
	}
	return fmt.Sprintf("fault %d", uint8(v))
}

// A place is where the bytes of one purpose go: bits 31:30 of a bus address tell places apart.
const (
	placeBit = 30
	places   = 4
)

// placed is the writes to one place.
type placed struct {
	addr  uint64 // of the first byte
	bytes []byte
	attr  tlp.Attr
	first int // number of the last beat of the first TLP
	last  int // and of the last one
	runs  []run
}

type run struct {
	addr  uint64
	bytes []byte
}

// written is what a result's writes add up to, however they are cut.
type written struct {
	fault  writesFault // the first, 0: none
	places [places]placed
	others []other // TLPs that are no writes
	ended  bool    // a completion entry was written
}

type other struct {
	tlp.Packet
	at int // number of its last beat, from 1
}

// gather takes a result apart: writes, put together, and the bytes of the last beat, which mps names the MPS from.
func gather(data []byte, mps func(told []byte) int) (w written, told []byte) {
	if len(data) < writeBeat || len(data)%writeBeat != 0 {
		w.fault = writesKind
		return w, make([]byte, writeData)
	}
	told = data[len(data)-writeBeat:][:writeData]
	tlps(data[:len(data)-writeBeat], mps(told), w.wrong, w.add)
	for i := range w.places {
		w.join(&w.places[i])
	}
	return w, told
}

// tlps hands on the TLPs that beats are, held to MPS and the rules of PCIe, and whether each is a completion entry.
func tlps(beats []byte, mps int, wrong func(writesFault), add func(p other, entry bool)) {
	cfg := tlp.DefaultMonitorConfig()
	cfg.MPS = mps
	mon, err := tlp.NewMonitor(cfg)
	if err != nil {
		wrong(writesFault(tlp.RuleMPS))
		return
	}
	var p tlp.Packet
	beat := 0
	for b := range slices.Chunk(beats, writeBeat) {
		beat++
		n := bits.OnesCount32(le.Uint32(b[writeKeep:]))
		p.Data = append(p.Data, b[:tlp.DWBytes*n]...)
		if b[writeLast] != 0 {
			p.Hdr = [tlp.HeaderBytes]byte(b[writeData:])
			if v := mon.Check(tlp.FromDevice, 0, &p); len(v) > 0 {
				wrong(writesFault(v[0].Rule))
			}
			add(other{p, beat}, b[writeEnd] != 0)
			p = tlp.Packet{}
		}
	}
	if len(p.Data) > 0 {
		wrong(writesFault(tlp.RuleLength))
	}
}

func (w *written) wrong(fault writesFault) {
	if w.fault == 0 {
		w.fault = fault
	}
}

// add takes a TLP.
func (w *written) add(p other, entry bool) {
	h := tlp.Parse(&p.Hdr)
	if w.ended {
		w.wrong(writesLate)
	}
	w.ended = entry
	if h.Kind != tlp.MWr {
		w.others = append(w.others, p)
		return
	}
	at := &w.places[h.Address>>placeBit%places]
	if at.last = p.at; len(at.runs) == 0 {
		at.attr, at.first = h.Attr, p.at
	} else if at.attr != h.Attr {
		w.wrong(writesAttr)
	}
	runs := h.Runs(p.Data)
	for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
		at.runs = append(at.runs, run{addr, b})
	}
}

// join puts the bytes of a place in the order of their addresses.
func (w *written) join(p *placed) {
	slices.SortStableFunc(p.runs, func(a, b run) int {
		if a.addr < b.addr {
			return -1
		}
		return int(flag(a.addr > b.addr))
	})
	for i, r := range p.runs {
		switch next := p.addr + uint64(len(p.bytes)); {
		case i == 0:
			p.addr = r.addr
		case r.addr < next:
			w.wrong(writesTwice)
		case r.addr > next:
			w.wrong(writesHole)
		}
		p.bytes = append(p.bytes, r.bytes...)
	}
}
