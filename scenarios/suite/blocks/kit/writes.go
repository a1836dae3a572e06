package kit

import (
	"fmt"
	"math/bits"
	"slices"

	"nictwin/models/format/tlp"
)

// Offsets in the beats in which a block's writes leave (blk_writes_pkg). The last beat of a result belongs to no TLP,
// and reports everything that is not a write.
const (
	WriteBeat = 160
	writeData = 128 // bytes of payload; the TLP's header follows
	WriteKeep = writeData + tlp.HeaderBytes
	WriteLast = WriteKeep + 4
	writeEnd  = WriteLast + 1 // set if the TLP is a completion entry
)

// WritesFault is a fault in the writes of a result: a violated rule of PCIe, or one of the faults below.
type WritesFault uint8

const (
	writesTwice WritesFault = 64 + iota
	writesHole
	writesLate
	writesAttr
	WritesKind
	writesNames
)

func (v WritesFault) String() string {
	names := [...]string{"a byte is written twice", "a byte between others is not written",
		"a write follows the completion entry",
		"attributes of a part differ", "no such write"}
	switch {
	case v == 0:
		return "right"
	case v <= WritesFault(tlp.NumRules):
		return tlp.Rule(v).String()
	case v >= writesTwice && v < writesNames:
		return names[v-writesTwice]
	}
	return fmt.Sprintf("fault %d", uint8(v))
}

// The addresses of a test are divided into four ranges (places) by bits 31:30 of the bus address. The stimulus gives
// each purpose a range of its own, so that the address of a write shows its purpose.
const (
	PlaceBit = 30
	Places   = 4
)

// Placed collects the writes to one of the four address ranges.
type Placed struct {
	Addr  uint64 // address of the first byte
	Bytes []byte
	Attr  tlp.Attr
	First int // number of the last beat of the first TLP
	Last  int // number of the last beat of the last TLP
	Runs  []run
}

type run struct {
	Addr  uint64
	Bytes []byte
}

// Written holds the writes of a result, independent of their split into TLPs.
type Written struct {
	Fault  WritesFault // first fault found; 0: none
	Places [Places]Placed
	Others []Other // TLPs other than writes
	Ended  bool    // a completion entry was written
}

type Other struct {
	tlp.Packet
	At int // number of the TLP's last beat, from 1
}

// Gather reassembles the writes of a result, and returns the bytes of its last beat, which also report the MPS.
func Gather(data []byte, mps func(last []byte) int) (w Written, last []byte) {
	if len(data) < WriteBeat || len(data)%WriteBeat != 0 {
		w.Fault = WritesKind
		return w, make([]byte, writeData)
	}
	last = data[len(data)-WriteBeat:][:writeData]
	TLPs(data[:len(data)-WriteBeat], mps(last), w.Wrong, w.add)
	for i := range w.Places {
		w.join(&w.Places[i])
	}
	return w, last
}

// TLPs assembles the TLPs of beats, and checks them against MPS and the rules of PCIe. It calls add for each, with
// whether it is a completion entry, and wrong for each fault.
func TLPs(beats []byte, mps int, wrong func(WritesFault), add func(p Other, entry bool)) {
	cfg := tlp.DefaultMonitorConfig()
	cfg.MPS = mps
	mon, err := tlp.NewMonitor(cfg)
	if err != nil {
		wrong(WritesFault(tlp.RuleMPS))
		return
	}
	var p tlp.Packet
	beat := 0
	for b := range slices.Chunk(beats, WriteBeat) {
		beat++
		n := bits.OnesCount32(LittleEndian.Uint32(b[WriteKeep:]))
		p.Data = append(p.Data, b[:tlp.DWBytes*n]...)
		if b[WriteLast] != 0 {
			p.Hdr = [tlp.HeaderBytes]byte(b[writeData:])
			if v := mon.Check(tlp.FromDevice, 0, &p); len(v) > 0 {
				wrong(WritesFault(v[0].Rule))
			}
			add(Other{p, beat}, b[writeEnd] != 0)
			p = tlp.Packet{}
		}
	}
	if len(p.Data) > 0 {
		wrong(WritesFault(tlp.RuleLength))
	}
}

func (w *Written) Wrong(fault WritesFault) {
	if w.Fault == 0 {
		w.Fault = fault
	}
}

// add adds a TLP to the address range that it writes to, or to Others.
func (w *Written) add(p Other, entry bool) {
	h := tlp.Parse(&p.Hdr)
	if w.Ended {
		w.Wrong(writesLate)
	}
	w.Ended = entry
	if h.Kind != tlp.MWr {
		w.Others = append(w.Others, p)
		return
	}
	at := &w.Places[h.Address>>PlaceBit%Places]
	if at.Last = p.At; len(at.Runs) == 0 {
		at.Attr, at.First = h.Attr, p.At
	} else if at.Attr != h.Attr {
		w.Wrong(writesAttr)
	}
	runs := h.Runs(p.Data)
	for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
		at.Runs = append(at.Runs, run{addr, b})
	}
}

// join concatenates the bytes written to an address range, in order of their addresses.
func (w *Written) join(p *Placed) {
	slices.SortStableFunc(p.Runs, func(a, b run) int {
		if a.Addr < b.Addr {
			return -1
		}
		return int(Flag(a.Addr > b.Addr))
	})
	for i, r := range p.Runs {
		switch next := p.Addr + uint64(len(p.Bytes)); {
		case i == 0:
			p.Addr = r.Addr
		case r.Addr < next:
			w.Wrong(writesTwice)
		case r.Addr > next:
			w.Wrong(writesHole)
		}
		p.Bytes = append(p.Bytes, r.Bytes...)
	}
}
