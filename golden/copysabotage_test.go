package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// copies records a run of the copy engine in which every read and write belongs to one entry for certain. Queue 0
// has a copy, a Send, a copy that invalidates, and an invalidation; queue 1 a copy with a failing read, and an
// entry that fails its checks.
func copies(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Timing.CopyChunks = 3
	o.spec.Parts |= nicspec.PartCopy
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegDevctl, 1|2<<4)
	m.Write32(nicspec.RegCtrl, 3)
	m.Write(keyBus, pattern(keySpan, 1))
	m.Write(linesBus, pattern(keySpan, 2))
	m.key(5, goodKeyEntry)
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
	m.key(8, nicspec.KeyEntryFields{Valid: 1, RightRead: true, RightWrite: true, Length: keySpan, BusBase: linesBus})
	m.OpenTx(0, 4)
	m.OpenTx(1, 4)
	post := func(q int, op nicspec.Opcode, id uint32, segs ...nicspec.SegFields) {
		w := nicspec.WqeFields{Opcode: op, Nseg: uint8(len(segs)), FComplete: true, WqeId: id}
		for i := range segs {
			segs[i].Encode(w.Slots[16*i:])
		}
		m.push(q, &w)
	}
	post(0, nicspec.OpcodeCopy, 100, nicspec.SegFields{Key: goodKey, Len: 3000, Addr: 0x1005},
		nicspec.SegFields{Key: 7, Len: 3000, Addr: 64})
	post(0, nicspec.OpcodeSend, 101, nicspec.SegFields{Key: goodKey, Len: 100, Addr: 0xf000})
	post(0, nicspec.OpcodeCopyInvalidate, 102, nicspec.SegFields{Key: 8, Len: 2048, Addr: 4096},
		nicspec.SegFields{Key: 7, Len: 2048, Addr: 0x2000})
	post(0, nicspec.OpcodeInvalidate, 103, nicspec.SegFields{Key: 8, Len: 128, Addr: 64})
	post(1, nicspec.OpcodeCopy, 104, nicspec.SegFields{Key: goodKey, Len: 30000, Addr: 0x4000},
		nicspec.SegFields{Key: 7, Len: 30000, Addr: 0x8000})
	post(1, nicspec.OpcodeInvalidate, 105, nicspec.SegFields{Key: 8, Len: 100, Addr: 64})
	m.FailOnce(keyBus+0x3000+8192, inject.FaultUR)
	m.RingTx(0)
	m.RingTx(1)
	m.readCounters()
	require.NoError(t, r.eng.Run())
	return DefaultConfig(o.spec.Build), r.tape
}

// copyWrite picks a write to an offset in the destination of the copies.
func copyWrite(off uint64) pick {
	return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address == copyBus+off })
}

// readOf picks a read of an address.
func readOf(addr uint64) pick {
	return out(tlp.MRd, func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address == addr })
}

var message pick = out(tlp.MsgD, func(*tlp.Header, *boundary.Crossing) bool { return true })

func messageField(field string, n int, set func(h *tlp.Header)) sabotage {
	return sabotage{"message " + field, func(p *tape) { p.header(p.get(n, message), set) }, "txq 0", "D4", field}
}

// endOf picks the completion entry with a wqe_id.
func endOf(q int, id uint32) pick {
	return func(x *boundary.Crossing) bool { return txCqe(q)(x) && nicspec.TxCqe(x.TLP.Data).WqeId() == id }
}

var copySabotages = []sabotage{
	{"byte flipped", func(p *tape) { p.get(0, copyWrite(64+256)).TLP.Data[40] ^= 4 }, "txq 0", "D2", "byte"},
	{"write missing", func(p *tape) { p.drop(p.find(0, copyWrite(64+512))) }, "txq 0", "D6", "completion entry"},
	{"write twice", func(p *tape) { i := p.find(0, copyWrite(64)); p.insert(i+1, clone(p.s[i])) }, "txq 0", "D2",
		"write"},
	{"write elsewhere", func(p *tape) { shift(p, p.get(0, copyWrite(64)), 1<<30) }, "device", "C2", "Address"},
	{"write before its data", func(p *tape) { p.move(p.find(0, copyWrite(64)), p.find(0, readOf(keyBus+4))+1) },
		"txq 0", "D2", "write"},
	{"write after the end", func(p *tape) { p.move(p.find(0, copyWrite(64+512)), p.find(0, endOf(0, 100))+1) }, "txq 0",
		"D6", "completion entry"},
	{"write over the end", func(p *tape) {
		x := p.get(0, copyWrite(64+2816))
		x.TLP.Data = append(x.TLP.Data, 0, 0, 0, 0)
		p.header(x, func(h *tlp.Header) { h.Length++ })
	}, "device", "C2", "Address"},
	{"data that did not come is written", func(p *tape) {
		x := clone(p.s[p.find(0, copyWrite(64))])
		p.header(&x, func(h *tlp.Header) { h.Address = copyBus + 0x8000 + 8192 + 128 })
		p.insert(p.find(0, endOf(1, 104)), x)
	}, "txq 1", "D3", "write"},
	{"source read twice", func(p *tape) {
		i := p.find(0, readOf(keyBus+4))
		x := clone(p.s[i])
		p.header(&x, func(h *tlp.Header) { h.Tag = 250 })
		p.insert(i+1, x)
	}, "device", "T4", "Address"},
	{"reads go on after a failure", readsGoOn, "txq 1", "D3", "read"},
	{"message missing", func(p *tape) { p.drop(p.find(0, message)) }, "txq 0", "D6", "completion entry"},
	{"last message missing", func(p *tape) { p.drop(p.find(1, message)) }, "txq 0", "D6", "completion entry"},
	{"message twice", func(p *tape) { i := p.find(1, message); p.insert(i+1, clone(p.s[i])) }, "device", "D4",
		"payload"},
	{"message before the copy's last write",
		func(p *tape) { p.move(p.find(0, message), p.find(0, copyWrite(0x2000+1792))) }, "txq 0", "D5", "message"},
	{"message before the Send before it", func(p *tape) { p.move(p.find(0, message), p.find(0, frameOut(0))) }, "txq 0",
		"D8", "message"},
	{"message for another range", func(p *tape) { nicspec.InvalidateMsg(p.get(0, message).TLP.Data).SetLines(31) },
		"txq 0", "D4", "payload"},
	{"message's last bytes", func(p *tape) { p.get(0, message).TLP.Data[12] = 1 }, "txq 0", "D4", "payload"},
	messageField("Code", 0, func(h *tlp.Header) { h.Code = tlp.CodeVendor0 }),
	messageField("TargetID", 1, func(h *tlp.Header) { h.TargetID = nicspec.RequesterHost }),
	messageField("VendorID", 0, func(h *tlp.Header) { h.VendorID++ }),
	messageField("VendorDW", 1, func(h *tlp.Header) { h.VendorDW = 1 }),
	messageField("Tag", 0, func(h *tlp.Header) { h.Tag = 1 }),
	messageField("Attr", 0, func(h *tlp.Header) { h.Attr = tlp.NoSnoop }),
	messageField("Routing", 0, func(h *tlp.Header) { h.Routing = tlp.RouteLocal }),
	{"end before the last write", func(p *tape) { p.move(p.find(0, endOf(0, 100)), p.find(0, copyWrite(64+2816))) },
		"txq 0", "D6", "completion entry"},
	{"end before the message", func(p *tape) { p.move(p.find(0, endOf(0, 103)), p.find(1, message)) }, "txq 0", "D6",
		"completion entry"},
	{"Send begins before the copy has ended",
		func(p *tape) { p.move(p.find(0, readOf(keyBus+0xe000)), p.find(0, copyWrite(64+2816))) }, "txq 0", "D8",
		"read"},
	{"copy begins before the Send has ended",
		func(p *tape) { p.move(p.find(0, readOf(linesBus+4096)), p.find(0, frameOut(0))) }, "txq 0", "D8", "read"},
	{"failed copy ends well",
		func(p *tape) { nicspec.TxCqe(p.get(0, endOf(1, 104)).TLP.Data).SetStatus(nicspec.StatusOk) }, "txq 1", "D3",
		"status"},
	{"failed copy's status", func(p *tape) {
		nicspec.TxCqe(p.get(0, endOf(1, 104)).TLP.Data).SetStatus(nicspec.StatusCplAbort)
	}, "txq 1", "D3", "status"},
	{"failed check's status", func(p *tape) {
		nicspec.TxCqe(p.get(0, endOf(1, 105)).TLP.Data).SetStatus(nicspec.StatusKeyBounds)
	}, "txq 1", "D1", "status"},
	{"copy's frame length", func(p *tape) { nicspec.TxCqe(p.get(0, endOf(0, 100)).TLP.Data).SetFrameLen(60) }, "txq 0",
		"T10", "frame_len"},
	counter("COPY_BYTES", nicspec.CntCopyBytes.Index()),
}

// readsGoOn inserts 70 more reads of 64 B of the failing copy's source before its completion entry.
func readsGoOn(p *tape) {
	at := p.find(0, endOf(1, 104))
	x := clone(p.s[p.find(0, readOf(keyBus+0x3000))])
	for i := range 70 {
		y := clone(x)
		p.header(&y, func(h *tlp.Header) {
			h.Tag, h.Address, h.Length, h.FirstBE, h.LastBE = uint8(180+i), keyBus+0x3000+25024+uint64(64*i), 16, 0xf,
				0xf
		})
		p.insert(at, y)
		at++
	}
}

func TestCopySabotageIsCaught(t *testing.T) {
	cfg, clean := copies(t)
	sabotagesAreCaught(t, cfg, clean, copySabotages)
}
