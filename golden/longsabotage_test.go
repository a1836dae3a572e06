package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// longs records work entries of several blocks. Queue 0 has a ring of eight blocks and six entries: of 3 blocks, of 1,
// of 4 (with a doorbell after each block), of 3, of 2 (pushed), and of 4 blocks that wrap around the end of the ring.
// Queue 1 has five entries, of 1 and 2 blocks in turn; the read of the fourth entry's first block fails. pieceAt gives
// the offset of an entry's pieces by wqe_id.
func longs(t testing.TB) (_ Config, _ []boundary.Crossing, pieceAt map[uint32]uint64) {
	t.Helper()
	o := smallRig()
	o.spec.Timing.TxPrefetch = 4
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCplTimeout, 3000)
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.OpenTx(0, 3)
	m.OpenTx(1, 4)
	pieceAt = map[uint32]uint64{}
	at := uint64(0)
	entry := func(blocks int, id uint32) []byte {
		var pieces []nictest.Piece
		pieceAt[id] = at
		for range 4*blocks - 2 {
			pieces = append(pieces, nictest.Piece{Key: goodKey, Addr: 0x1000 + at, N: 100})
			at += 512
		}
		return nictest.Blocks(blocks, id, pattern(14, 3), pieces[:min(len(pieces), nicspec.SegMax)], nil)
	}
	m.PostWqe(0, append(entry(3, 100), entry(1, 101)...))
	m.RingTx(0)
	r.settle()
	four := entry(4, 102)
	for k := 0; k < len(four); k += nicspec.WqeBytes {
		m.PostWqe(0, four[k:k+nicspec.WqeBytes])
		m.RingTx(0)
		r.settle()
	}
	m.PostWqe(0, entry(3, 103))
	m.RingTx(0)
	r.settle()
	m.PushWqe(0, entry(2, 104))
	r.settle()
	m.PostWqe(0, entry(4, 105))
	m.RingTx(0)
	for _, n := range []int{1, 2, 1, 2, 1} { // the read of block 4 fails
		m.PostWqe(1, entry(n, 200+uint32(m.Tx[1].PI)))
	}
	m.FailOnce(m.Tx[1].Slot(4, nicspec.WqeBytes), inject.FaultUR)
	m.RingTx(1)
	r.settle()
	m.Table(nicspec.TableOpRead, nicspec.TableTxq, 0, nil)
	m.Reg(nicspec.RegTblData(12), 1)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape, pieceAt
}

// again repeats the read that `is` picks, with another tag, after the crossing that `later` picks.
func (p *tape) again(is, later pick) {
	x := clone(p.s[p.find(0, is)])
	p.header(&x, func(h *tlp.Header) { h.Tag = 0xee })
	p.insert(p.find(0, later)+1, x)
}

// answered returns the index of the completion of the n-th picked read.
func (p *tape) answered(n int, is pick) int {
	at := p.find(n, is)
	tag := tlp.Parse(&p.s[at].TLP.Hdr).Tag
	return p.from(at, func(x *boundary.Crossing) bool {
		return x.Kind == boundary.TLPIn && tlp.Parse(&x.TLP.Hdr).Kind == tlp.CplD && tlp.Parse(&x.TLP.Hdr).Tag == tag
	})
}

func TestLongEntrySabotageIsCaught(t *testing.T) {
	cfg, clean, pieceAt := longs(t)
	p := newTape(t, clean)
	event := nicspec.TxCqe(p.get(0, func(x *boundary.Crossing) bool {
		return txCqe(1)(x) && nicspec.TxCqe(x.TLP.Data).Type() == nicspec.CqeTypeEvent
	}).TLP.Data)
	require.EqualValues(t, 4, event.Index())
	block := func(q int, i uint64) pick { return readOf(nictest.TxRing(q) + nicspec.WqeBytes*i) }
	piece := func(entry uint32) pick { return readOf(keyBus + pieceAt[entry]) }
	index := func(q int, id uint32, to uint16) func(p *tape) {
		return func(p *tape) { nicspec.TxCqe(p.get(0, endOf(q, id)).TLP.Data).SetIndex(to) }
	}
	// stray inserts a copy of the first read of entry 203's pieces, at another offset.
	stray := func(at uint64, before pick) func(p *tape) {
		return func(p *tape) {
			x := clone(p.s[p.find(0, piece(203))])
			p.header(&x, func(h *tlp.Header) { h.Tag, h.Address = 0xee, keyBus+at })
			p.insert(p.find(0, before), x)
		}
	}
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		counter("TX_WQE", nicspec.CntTxWqe.Index()),
		{"blocks counted as entries", func(p *tape) {
			p.s[p.answer(nicspec.RegCounter(nicspec.CntTxWqe.Index()))].TLP.Data[0] += 2
		}, "counters", "G5", "TX_WQE"},
		{"index of the last block", index(0, 100, 2), "txq 0", "T10", "index"},
		{"index of the next block", index(0, 102, 5), "txq 0", "T10", "index"},
		{"index by entries", index(0, 101, 1), "txq 0", "T10", "index"},
		{"index of the last block, pushed", index(0, 104, 12), "txq 0", "T10", "index"},
		{"index of the last block, wrapped", index(0, 105, 16), "txq 0", "T10", "index"},
		{"consumer index by entries", func(p *tape) { p.s[p.answer(nicspec.RegTblData(12))].TLP.Data[2] = 6 },
			"registers", "Q5", "TBL_DATA[12]"},
		{"a block read twice", func(p *tape) { p.again(block(0, 4), block(0, 4)) }, "txq 0", "T2", "read"},
		{"the first block read twice", func(p *tape) { p.again(block(0, 4), block(0, 5)) }, "txq 0", "T2", "read"},
		{"a block read again when its entry is whole", func(p *tape) { p.again(block(0, 5), piece(102)) }, "txq 0",
			"T2", "read"},
		{"a block read that was pushed and used", func(p *tape) {
			x := clone(p.s[p.find(0, block(0, 4))])
			p.header(&x, func(h *tlp.Header) { h.Tag, h.Address = 0xee, nictest.TxRing(0)+3*nicspec.WqeBytes })
			p.insert(p.find(0, piece(104))+1, x)
		}, "txq 0", "T2", "read"},
		{"an entry started before its last block is posted", func(p *tape) {
			p.move(p.find(0, piece(102)), p.answered(0, block(0, 6))+1)
		}, "device", "T4", "Address"},
		{"an entry started before its last block has come", func(p *tape) {
			p.move(p.find(0, piece(102)), p.answered(0, block(0, 7)))
		}, "device", "T4", "Address"},
		{"a pushed entry started by its first block", func(p *tape) {
			p.move(p.find(0, piece(104)), p.find(1, rung(nicspec.RegTxPush(0))))
		}, "device", "T4", "Address"},
		{"an entry with a block that failed started", stray(pieceAt[204], endOf(1, 203)), "device", "T4", "Address"},
		{"an entry behind a block that failed started", stray(pieceAt[206], endOf(1, 203)), "device", "T4", "Address"},
		{"an entry behind a block that failed sends", func(p *tape) {
			x := clone(p.s[p.find(2, frameOut(1))])
			p.insert(p.find(0, endOf(1, 203))+1, x)
		}, "txq 1", "", "frame"},
		{"an entry behind a block that failed ends", func(p *tape) {
			i := p.find(0, endOf(1, 203))
			x := clone(p.s[i])
			e := nicspec.TxCqe(x.TLP.Data)
			e.SetIndex(6)
			e.SetWqeId(206)
			e.SetStatus(nicspec.StatusBadFormat)
			at := last(p, txCqe(1)) + 1
			p.header(&x, func(h *tlp.Header) { h.Address = nictest.TxCq(1) + 4*nicspec.CqeBytes })
			p.insert(at, x)
		}, "txq 1", "", ""},
		{"the Event names the entry's block that came", func(p *tape) {
			nicspec.TxCqe(p.get(0, func(x *boundary.Crossing) bool {
				return txCqe(1)(x) && nicspec.TxCqe(x.TLP.Data).Type() == nicspec.CqeTypeEvent
			}).TLP.Data).SetIndex(3)
		}, "txq 1", "T2", "index"},
		{"slots of a later block left out", func(p *tape) {
			f := p.get(0, frameOut(0)).Frame
			f.Data = f.Data[:14+300]
		}, "txq 0", "T5", "frame length"},
	})
}
