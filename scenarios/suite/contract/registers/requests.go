package registers

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// shape is a request of n DWs with byte enables.
type shape struct {
	off         uint32
	n           int
	first, last uint8
}

// shapes lists requests that hit a register but are no valid access: wrong size, alignment or byte enables.
func shapes() []shape {
	var all []shape
	for be := range uint8(0xf) {
		all = append(all, shape{nicspec.RegScratch, 1, be, 0})
		all = append(all, shape{nicspec.RegRocePort, 2, be, 0xf}, shape{nicspec.RegRocePort, 2, 0xf, be})
	}
	all = append(all,
		shape{nicspec.RegScratch, 1, 0xf, 0xf}, // illegal: a request of one DW must have last byte enables of 0
		shape{nicspec.RegScratch, 2, 0xf, 0xf}, // not aligned to 8 bytes
		shape{nicspec.RegTblData(1), 2, 0xf, 0xf},
		shape{nicspec.BarBytes - 4, 2, 0xf, 0xf},
	)
	for _, n := range []int{3, 4, 7, 8, 16, 32, 33, 64, 128} {
		all = append(all, shape{nicspec.RegTblData(0), n, 0xf, 0xf}, shape{nicspec.RegTxPush(3), n, 0xf, 0xf})
	}
	return all
}

func writeShapes(r *kit.Rig) {
	r.Write(nicspec.RegScratch, 0xabcd)
	var all []shape
	for _, s := range shapes() {
		// A request of this size at TX_PUSH is a valid push.
		if s.off != nicspec.RegTxPush(3) || s.n*4 != nicspec.WqeBytes || !r.Sizes.Has(nicspec.PartPush) {
			all = append(all, s)
		}
	}
	r.Counted("writes that are no register accesses", kit.Steps{kit.DevCounter(nicspec.CntRegBad): uint64(len(all))},
		func() {
			for i, s := range all {
				h := kit.Memory(tlp.MWr, s.off)
				h.Length, h.FirstBE, h.LastBE, h.Tag = uint16(s.n), s.first, s.last, uint8(i)
				data := make([]byte, 4*s.n)
				for k := range data {
					data[k] = 0xee
				}
				r.Send(h, data)
			}
		})
	require.EqualValues(r.T, 0xabcd, r.Read(nicspec.RegScratch))
	require.EqualValues(r.T, nicspec.ResetRocePort, r.Read(nicspec.RegRocePort))
	require.Equal(r.T, make([]byte, 4*nicspec.TableWords), r.Staged())
	require.Empty(r.T, r.Cpls, "writes are not answered")
}

func readShapes(r *kit.Rig) {
	all := shapes()
	r.Counted("reads that are no register accesses", kit.Steps{kit.DevCounter(nicspec.CntRegBad): uint64(len(all)) + 1},
		func() {
			for i, s := range all {
				h := kit.Memory(tlp.MRd, s.off)
				h.Length, h.FirstBE, h.LastBE = uint16(s.n), s.first, s.last
				h.Tag, h.TC, h.Attr = uint8(i), uint8(i)%8, tlp.Attr(i/8%8)
				r.Refused(h)
			}
			page := kit.Memory(tlp.MRd, nicspec.RegTxPush(0)) // 4 KB: the byte count is 0 on the wire
			page.Length, page.LastBE, page.Tag = tlp.MaxLengthDW, 0xf, 0xfe
			r.Refused(page)
		})
	good := kit.Memory(tlp.MRd, nicspec.RegScratch)
	good.Tag, good.TC, good.Attr, good.RequesterID = 0x9b, 5, 6, 0xffff
	r.Send(good, nil)
	a := r.Answer()
	require.Equal(r.T, tlp.Header{Kind: tlp.CplD, Length: 1, TC: 5, Attr: 6, RequesterID: 0xffff, Tag: 0x9b,
		ByteCount:   4,
		CompleterID: nicspec.RequesterNic, LowerAddr: nicspec.RegScratch}, a.Header)
	good.Length, good.LastBE, good.Address = 2, 0xf, nicspec.BarBase+nicspec.RegTblDataBase+0x78
	r.Send(good, nil)
	a = r.Answer()
	require.Equal(r.T, tlp.Header{Kind: tlp.CplD, Length: 2, TC: 5, Attr: 6, RequesterID: 0xffff, Tag: 0x9b,
		ByteCount:   8,
		CompleterID: nicspec.RequesterNic, LowerAddr: 0x78}, a.Header)
}

// elsewhere returns requests to addresses outside BAR0.
func elsewhere() []tlp.Header {
	var all []tlp.Header
	for _, a := range []uint64{
		0, 0x100, 0xffff_fffc, 1 << 32, nicspec.BarBase - 4, nicspec.BarBase + nicspec.BarBytes,
		nicspec.BarBase | 1<<40,
		3 << nicspec.EndpointShift, nicspec.BarBase | 1<<63,
	} {
		h := kit.Memory(tlp.MRd, 0)
		h.Address, h.Addr64 = a, a>>32 != 0
		all = append(all, h)
	}
	low := kit.Memory(tlp.MRd, 0) // a header with a 64-bit address that would fit into 32 bits
	low.Address = 0x2c
	return append(all, low)
}

func requestsElsewhere(r *kit.Rig) {
	all := elsewhere()
	r.Counted("requests that are not for BAR0",
		kit.Steps{kit.DevCounter(nicspec.CntTlpUnsupported): uint64(5 * len(all))}, func() {
			for i, h := range all {
				h.Tag, h.TC, h.Attr = uint8(i), 7-uint8(i)%8, tlp.Attr(i%8)
				r.Refused(h)
				h.FirstBE = 6
				r.Refused(h)
				if h.Address != 0xffff_fffc && h.Address != nicspec.BarBase-4 {
					h.Length, h.FirstBE, h.LastBE = 5, 0xe, 7
					r.Refused(h)
					h.Length = 100
				} else {
					r.Refused(h)
					h.Length = 1
				}
				h.Kind = tlp.MWr
				r.Send(h, make([]byte, 4*int(h.Length)))
				h.Length, h.FirstBE, h.LastBE = 1, 0xf, 0
				r.Send(h, make([]byte, 4))
			}
		})
	require.Empty(r.T, r.Cpls)
}

// otherRequest is a request other than a memory read or write, with Fmt and Type in its first header byte.
type otherRequest struct {
	name     string
	ft       byte
	answered bool
	data     bool
}

// otherRequestList lists requests of other types (PCIe 2.2). Their request fields lie where memory requests have them.
var otherRequestList = []otherRequest{
	{"MRdLk, 3 DW", 0x01, true, false}, {"MRdLk, 4 DW", 0x21, true, false},
	{"IORd", 0x02, true, false}, {"IOWr", 0x42, true, true},
	{"CfgRd0", 0x04, true, false}, {"CfgWr0", 0x44, true, true}, {"CfgRd1", 0x05, true, false},
	{"CfgWr1", 0x45, true, true},
	{"FetchAdd, 3 DW", 0x4c, true, true}, {"FetchAdd, 4 DW", 0x6c, true, true},
	{"Swap, 3 DW", 0x4d, true, true}, {"Swap, 4 DW", 0x6d, true, true},
	{"CAS, 3 DW", 0x4e, true, true}, {"CAS, 4 DW", 0x6e, true, true},
	{"DMWr, 3 DW", 0x5b, true, true}, {"DMWr, 4 DW", 0x7b, true, true},
	{"message to the root", 0x30, false, false}, {"message by address", 0x31, false, false},
	{"message by ID", 0x32, false, false},
	{"broadcast message", 0x33, false, false}, {"local message", 0x34, false, false},
	{"gathered message", 0x35, false, false},
	{"message with data", 0x70, false, true}, {"message with data by ID", 0x72, false, true},
	{"type 0x1f", 0x1f, false, false}, {"type 0x03, with data", 0x43, false, true}, {"prefix", 0x80, false, false},
	{"Fmt 5", 0xa0, false, false}, {"Fmt 7", 0xe0, false, false}, {"memory write, locked", 0x41, false, true},
	{"IO, 4 DW", 0x22, false, false}, {"Cfg, 4 DW", 0x64, false, true}, {"FetchAdd without data", 0x0c, false, false},
	{"completion of 4 DW", 0x2a, false, false},
}

func (o *otherRequest) header(tag uint8, dws int) (hdr [tlp.HeaderBytes]byte) {
	hdr = [tlp.HeaderBytes]byte{o.ft, 0x30, 0x20, byte(dws), kit.RawRequester >> 8, kit.RawRequester & 0xff, tag, 0xf}
	if dws > 1 {
		hdr[7] = 0xff
	}
	binary.BigEndian.PutUint64(hdr[8:], nicspec.BarBase+nicspec.RegScratch)
	if o.ft>>5&1 == 0 {
		binary.BigEndian.PutUint32(hdr[8:], 0x2c)
		clear(hdr[12:])
	}
	return hdr
}

func (o *otherRequest) payload(dws int) []byte {
	if !o.data {
		return nil
	}
	return make([]byte, 4*dws)
}

func otherRequests(r *kit.Rig) {
	for i, o := range otherRequestList {
		for _, dws := range []int{1, 2, 4} {
			what := fmt.Sprintf("%s of %d DWs", o.name, dws)
			before := r.Counters()
			r.SendRaw(o.header(uint8(4*i+dws), dws), o.payload(dws))
			r.Synced()
			if o.answered {
				require.Equal(r.T, tlp.Header{
					Kind: tlp.Cpl, Status: tlp.StatusUR, TC: 3, Attr: 2, RequesterID: kit.RawRequester,
					Tag:         uint8(4*i + dws),
					CompleterID: nicspec.RequesterNic, ByteCount: uint16(4 * dws),
				}, r.Answer().Header, what)
			}
			require.Empty(r.T, r.Cpls, what)
			r.Moved(what, before, kit.Steps{kit.DevCounter(nicspec.CntTlpUnsupported): 1})
		}
	}
}

// nonPosted lists Fmt and Type of requests that need a completion although they are not memory reads.
var nonPosted = []byte{0x01, 0x21, 0x02, 0x42, 0x04, 0x44, 0x05, 0x45, 0x1b, 0x5b, 0x7b, 0x4c, 0x6c, 0x4d, 0x6d, 0x4e,
	0x6e}

// everyType sends a request of every Fmt and Type, except memory requests and completions.
func everyType(r *kit.Rig) {
	all, want := uint64(0), map[uint8]tlp.Header{}
	before := r.Counters()
	for ft := range 256 {
		switch ft {
		case 0x00, 0x20, 0x40, 0x60, 0x0a, 0x4a, 0x0b, 0x4b:
			continue
		}
		o := otherRequest{ft: byte(ft), data: ft>>6 == 1}
		r.SendRaw(o.header(o.ft, 1), o.payload(1))
		if all++; slices.Contains(nonPosted, o.ft) {
			want[o.ft] = tlp.Header{Kind: tlp.Cpl, Status: tlp.StatusUR, TC: 3, Attr: 2, RequesterID: kit.RawRequester,
				Tag:         o.ft,
				CompleterID: nicspec.RequesterNic, ByteCount: 4}
		}
	}
	r.Synced()
	for range nonPosted {
		a := r.Answer()
		require.Equal(r.T, want[a.Tag], a.Header, "answer to a request with Fmt and Type %#x", a.Tag)
		delete(want, a.Tag)
	}
	require.Empty(r.T, r.Cpls)
	r.Moved("requests of every type", before, kit.Steps{kit.DevCounter(nicspec.CntTlpUnsupported): all})
}

func poisonedRequests(r *kit.Rig) {
	r.Write(nicspec.RegScratch, 77)
	r.Counted("poisoned memory requests", kit.Steps{kit.DevCounter(nicspec.CntTlpUnsupported): 9}, func() {
		w := kit.Memory(tlp.MWr, nicspec.RegScratch)
		w.EP = true
		r.Send(w, make([]byte, 4))
		w.Length, w.LastBE = 5, 0xf // its length is wrong as well, but poison takes precedence
		r.Send(w, make([]byte, 20))
		for _, off := range []uint32{nicspec.RegRxDoorbell(1), nicspec.RegTxDoorbell(1), nicspec.RegTblCmd} {
			w.Address, w.Length, w.LastBE = nicspec.BarBase+uint64(off), 1, 0
			r.Send(w, make([]byte, 4))
		}
		w.Address, w.Length, w.LastBE = nicspec.BarBase+uint64(nicspec.RegTxPush(1)), nicspec.WqeBytes/4, 0xf
		r.Send(w, make([]byte, nicspec.WqeBytes))
		for _, h := range append(elsewhere()[:1], kit.Memory(tlp.MRd, nicspec.RegScratch),
			kit.Memory(tlp.MRd, nicspec.RegTblData(0))) {
			h.EP = true
			r.Refused(h)
		}
	})
	require.EqualValues(r.T, 77, r.Read(nicspec.RegScratch))
	n := uint64(0)
	before := r.Counters()
	for i, o := range otherRequestList {
		hdr := o.header(uint8(i), 1)
		hdr[2] |= 0x40
		r.SendRaw(hdr, o.payload(1))
		n++
	}
	r.Synced()
	require.Empty(r.T, r.Cpls, "poisoned requests other than memory reads are not answered")
	r.Moved("other poisoned requests", before, kit.Steps{kit.DevCounter(nicspec.CntTlpUnsupported): n})
}

func strayCompletions(r *kit.Rig) {
	n := uint64(0)
	before := r.Counters()
	for _, requester := range []uint16{nicspec.RequesterNic, 0x0201, 0x0100, 0} {
		for _, tag := range []uint8{0, 1, 0x7f, 0xff} {
			for _, h := range []tlp.Header{
				{Kind: tlp.CplD, Length: 4, ByteCount: 16},
				{Kind: tlp.CplD, Length: 4, ByteCount: 16, EP: true},
				{Kind: tlp.CplD, Length: 1, ByteCount: 4096, LowerAddr: 0x7c},
				{Kind: tlp.Cpl, Status: tlp.StatusUR, ByteCount: 64},
				{Kind: tlp.Cpl, Status: tlp.StatusCA, ByteCount: 64},
			} {
				h.RequesterID, h.Tag = requester, tag
				r.Send(h, make([]byte, 4*int(h.Length)))
				n++
			}
		}
	}
	for _, ft := range []byte{0x0b, 0x4b} { // completions of locked reads
		r.SendRaw([tlp.HeaderBytes]byte{ft, 0, 0, 1, 0, 0, 0, 4, 2, 0, 9, 0}, make([]byte, int(ft>>6)*4))
		n++
	}
	r.Synced()
	r.Moved("completions for nobody", before, kit.Steps{kit.DevCounter(nicspec.CntCplUnexpected): n})
}

// answersInOrder mixes reads of registers with requests that are refused for various reasons. The answers must come in
// order.
func answersInOrder(r *kit.Rig) {
	const n = 40
	for range 4 {
		for i := range uint8(n) {
			h := kit.Memory(tlp.MRd, nicspec.RegScratch)
			h.Tag = i
			switch i % 5 {
			case 1:
				h.FirstBE = 3
			case 2:
				h.Address, h.Addr64 = 0x1000, false
			case 3:
				o := otherRequest{ft: 0x04} // CfgRd0
				r.SendRaw(o.header(i, 1), nil)
				continue
			}
			r.Send(h, nil)
		}
		for i := range uint8(n) {
			require.Equal(r.T, i, r.Answer().Tag, "tag of answer %d", i)
		}
	}
}
