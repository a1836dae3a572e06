package tlp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func newTestMonitor(t require.TestingT, change func(*MonitorConfig)) *Monitor {
	cfg := DefaultMonitorConfig()
	if change != nil {
		change(&cfg)
	}
	m, err := NewMonitor(cfg)
	require.NoError(t, err)
	return m
}

// step is one TLP of a test: a header and a payload.
type step struct {
	dir   Dir
	hdr   Header
	bytes int    // bytes of payload; 0: as many as the header announces, -1: no payload
	raw   string // header as hex digits, in place of hdr
}

func (s step) check(t *testing.T, m *Monitor, cycle uint64) []Violation {
	t.Helper()
	var wire [HeaderBytes]byte
	if s.raw != "" {
		wire = unhex(t, s.raw)
	} else {
		require.NoError(t, s.hdr.Encode(&wire))
	}
	n := s.bytes
	if n == 0 {
		n = s.hdr.PayloadBytes()
	}
	return m.CheckRaw(s.dir, cycle, &wire, make([]byte, max(n, 0)))
}

// Legal TLPs, which the tests make illegal: a device with ID 0x0200 reads 256 bytes at 0x1020 from
// completer 0x0100 with tag 5, and writes 64 bytes.
func legalRead() Header {
	return Header{Kind: MRd, RequesterID: 0x0200, Tag: 5, Length: 64, FirstBE: 0xf, LastBE: 0xf, Address: 0x1020}
}

func legalWrite() Header {
	return Header{Kind: MWr, RequesterID: 0x0200, Length: 16, FirstBE: 0xf, LastBE: 0xf, Address: 0x1000}
}

func legalCpl1() Header { // first completion, with the data up to address 0x1080
	return Header{Kind: CplD, CompleterID: 0x0100, RequesterID: 0x0200, Tag: 5, Length: 24, ByteCount: 256,
		LowerAddr: 0x20}
}

func legalCpl2() Header { // second completion, with the data up to address 0x1100
	return Header{Kind: CplD, CompleterID: 0x0100, RequesterID: 0x0200, Tag: 5, Length: 32, ByteCount: 160}
}

func legalCpl3() Header { // last completion, with the data up to address 0x1120
	return Header{Kind: CplD, CompleterID: 0x0100, RequesterID: 0x0200, Tag: 5, Length: 8, ByteCount: 32}
}

func legalMsg() Header {
	return Header{Kind: Msg, RequesterID: 0x0200, Code: CodeVendor1, Routing: RouteToRoot}
}

func legalUR() Header {
	return Header{Kind: Cpl, Status: StatusUR, CompleterID: 0x0100, RequesterID: 0x0200, Tag: 5, ByteCount: 256,
		LowerAddr: 0x20}
}

func out(h Header, change func(*Header)) step { return step{dir: FromDevice, hdr: with(h, change)} }

func in(h Header, change func(*Header)) step { return step{dir: ToDevice, hdr: with(h, change)} }

func with(h Header, change func(*Header)) Header {
	if change != nil {
		change(&h)
	}
	return h
}

func TestLegalTraffic(t *testing.T) {
	m := newTestMonitor(t, func(c *MonitorConfig) { c.DeviceID, c.CheckDeviceID = 0x0200, true })
	for i, s := range []step{
		out(legalWrite(), nil), out(legalRead(), nil), in(legalCpl1(), nil),
		// the same tag, another requester
		in(Header{Kind: MRd, RequesterID: 0x0000, Tag: 5, Length: 1, FirstBE: 0xf, Address: 0x40}, nil),
		in(legalCpl2(), nil), in(legalCpl3(), nil),
		out(Header{Kind: CplD, CompleterID: 0x0200, Tag: 5, Length: 1, ByteCount: 4, LowerAddr: 0x40}, nil),
		out(legalRead(), nil), in(legalUR(), nil), // the tag can be used again
		out(legalRead(), nil), in(legalUR(), func(h *Header) { h.LowerAddr = 0 }),
		out(legalRead(), nil), in(legalCpl1(), func(h *Header) { h.EP, h.Attr = true, IDBasedOrder }),
		in(legalUR(), func(h *Header) { h.Status, h.ByteCount, h.LowerAddr = StatusCA, 160, 0 }),
		out(legalMsg(), nil), in(legalMsg(), func(h *Header) { h.Code = 0x20 }),
	} {
		require.Empty(t, s.check(t, m, uint64(i)), "step %d", i)
	}
	require.Empty(t, m.End())
	require.EqualValues(t, 16, m.Checked())
}

// ruleCases: in each case the last TLP of list `steps` breaks one rule in the named field. The
// monitor reports that once, and judges the TLPs of list `after` as if it had not happened.
var ruleCases = []struct {
	name  string
	rule  Rule
	field string
	text  string // text of the expected and the actual value
	steps []step // the last one breaks the rule
	after []step // legal TLPs afterwards
}{
	{"locked", RuleHeader, "Fmt/Type", "MRdLk", []step{{raw: "01000001 02000501"}}, []step{in(legalUR(), nil)}},
	{"reserved bit", RuleHeader, "TH", "expected 0", []step{{raw: "00010040 020005ff 00001020"}},
		[]step{in(legalCpl1(), nil), in(legalCpl2(), nil), in(legalCpl3(), nil)}},
	{"64-bit header", RuleAddressFormat, "Addr64", "expected 0, got 1",
		[]step{out(legalWrite(), func(h *Header) { h.Addr64 = true })}, nil},
	{"short payload", RuleLength, "payload bytes", "expected 0x40, got 0x3c",
		[]step{{hdr: legalWrite(), bytes: 60}}, nil},
	{"no payload", RuleLength, "payload bytes", "got 0x0", []step{{hdr: legalWrite(), bytes: -1}}, nil},
	{"payload of a read", RuleLength, "payload bytes", "expected 0x0, got 0x4", []step{{hdr: legalRead(), bytes: 4}},
		[]step{in(legalUR(), nil)}},
	{"mps", RuleMPS, "payload bytes", "at most 0x80, got 0x84",
		[]step{out(legalWrite(), func(h *Header) { h.Length = 33 })}, nil},
	{"mrrs", RuleMRRS, "request bytes", "at most 0x200, got 0x204",
		[]step{out(legalRead(), func(h *Header) { h.Length = 129 })},
		[]step{in(legalUR(), func(h *Header) { h.ByteCount = 516 })}},
	{"page, write", RulePage, "end within 4 KB page", "at most 0x1000, got 0x1004",
		[]step{out(legalWrite(), func(h *Header) { h.Address = 0x1fc4 })}, nil},
	{"page, read", RulePage, "end within 4 KB page", "at most 0x1000, got 0x10e0",
		[]step{out(legalRead(), func(h *Header) { h.Address = 0x1fe0 })},
		[]step{in(legalUR(), func(h *Header) { h.LowerAddr = 0x60 })}},
	{"last BE", RuleByteEnables, "LastBE", "0 in a request of one DW",
		[]step{out(legalWrite(), func(h *Header) { h.Length, h.LastBE = 1, 1 })}, nil},
	{"first BE", RuleByteEnables, "FirstBE", "got 0x0", []step{out(legalWrite(), func(h *Header) { h.FirstBE = 0 })},
		nil},
	{"gap", RuleByteEnables, "LastBE", "contiguous", []step{out(legalWrite(), func(h *Header) { h.LastBE = 5 })}, nil},
	{"tag twice", RuleTagUnique, "Tag", "not outstanding, got 0x5",
		[]step{out(legalRead(), nil), out(legalRead(), nil)},
		[]step{in(legalUR(), nil)}},
	{"requester", RuleRequesterID, "RequesterID", "expected 02:00.0, got 01:00.0",
		[]step{out(legalWrite(), func(h *Header) { h.RequesterID = 0x0100 })}, nil},
	{"requester of a message", RuleRequesterID, "RequesterID", "got 00:00.0",
		[]step{out(legalMsg(), func(h *Header) { h.RequesterID = 0 })}, nil},
	{"no request", RuleUnexpected, "Tag", "got 0x5", []step{in(legalCpl1(), nil)}, nil},
	{"wrong requester", RuleUnexpected, "Tag", "got 0x5",
		[]step{out(legalRead(), nil), in(legalUR(), func(h *Header) { h.RequesterID = 0x0300 })},
		[]step{in(legalUR(), nil)}},
	{"wrong way", RuleUnexpected, "Tag", "got 0x5",
		[]step{out(legalRead(), nil), out(legalUR(), func(h *Header) { h.CompleterID = 0x0200 })},
		[]step{in(legalUR(), nil)}},
	{"too late", RuleUnexpected, "Tag", "got 0x5",
		[]step{out(legalRead(), nil), in(legalUR(), nil), in(legalUR(), nil)}, nil},
	{"byte count", RuleByteCount, "ByteCount", "expected 256, got 252",
		[]step{out(legalRead(), nil), in(legalCpl1(), func(h *Header) { h.ByteCount = 252 })},
		[]step{in(legalCpl2(), nil), in(legalCpl3(), nil)}},
	{"byte count modified", RuleByteCount, "BCM", "expected 0, got 1",
		[]step{out(legalRead(), nil), in(legalUR(), func(h *Header) { h.BCM = true })}, nil},
	{"lower address", RuleLowerAddr, "LowerAddr", "expected 0x20, got 0x24",
		[]step{out(legalRead(), nil), in(legalCpl1(), func(h *Header) { h.LowerAddr = 0x24 })},
		[]step{in(legalCpl2(), nil), in(legalCpl3(), nil)}},
	{"lower address of UR", RuleLowerAddr, "LowerAddr", "expected 0x20, got 0x24",
		[]step{out(legalRead(), nil), in(legalUR(), func(h *Header) { h.LowerAddr = 0x24 })}, nil},
	{"rcb", RuleRCB, "end address", "a multiple of 0x40, got 0x10a0",
		[]step{out(legalRead(), nil), in(legalCpl1(), func(h *Header) { h.Length = 32 })},
		[]step{in(legalUR(), func(h *Header) { h.ByteCount = 128 })}},
	{"rcb of the device", RuleRCB, "end address", "a multiple of 0x80, got 0x1040", []step{
		in(legalRead(), func(h *Header) { h.RequesterID = 0 }),
		out(legalCpl1(), func(h *Header) { h.RequesterID, h.CompleterID, h.Length = 0, 0x0200, 8 }),
	}, []step{out(legalUR(), func(h *Header) {
		h.RequesterID, h.CompleterID, h.ByteCount, h.LowerAddr = 0, 0x0200, 224,
			0
	})}},
	{"too much", RuleCplLength, "Length", "at most 8, got 9",
		[]step{out(legalRead(), nil), in(legalCpl1(), nil), in(legalCpl2(), nil), in(legalCpl3(), func(h *Header) {
			h.Length = 9
		})}, nil},
	{"no data", RuleStatus, "Kind", "expected CplD, got Cpl",
		[]step{out(legalRead(), nil), in(legalUR(), func(h *Header) { h.Status = StatusSC })}, nil},
	{"data with UR", RuleStatus, "Kind", "expected Cpl, got CplD",
		[]step{out(legalRead(), nil), in(legalCpl1(), func(h *Header) { h.Status = StatusUR })}, nil},
	{"retry", RuleStatus, "Status", "SC, UR or CA for a memory read, got CRS",
		[]step{out(legalRead(), nil), in(legalUR(), func(h *Header) { h.Status = StatusCRS })}, nil},
	{"reserved status", RuleStatus, "Status", "got Status(3)",
		[]step{out(legalRead(), nil), in(legalUR(), func(h *Header) { h.Status = 3 })}, nil},
	{"class", RuleCplAttr, "TC", "expected 0, got 1",
		[]step{out(legalRead(), nil), in(legalUR(), func(h *Header) { h.TC = 1 })}, nil},
	{"attributes", RuleCplAttr, "Attr", "expected NS, got RO",
		[]step{out(legalRead(), func(h *Header) { h.Attr = NoSnoop }),
			in(legalUR(), func(h *Header) { h.Attr = RelaxedOrder })}, nil},
	{"two completers", RuleCompleterID, "CompleterID", "expected 01:00.0, got 01:00.1",
		[]step{out(legalRead(), nil), in(legalCpl1(), nil), in(legalCpl2(), func(h *Header) {
			h.CompleterID = 0x0101
		})},
		[]step{in(legalCpl3(), func(h *Header) { h.CompleterID = 0x0101 })}},
	{"completer", RuleCompleterID, "CompleterID", "expected 02:00.0, got 01:00.0", []step{
		in(legalRead(), func(h *Header) { h.RequesterID = 0 }),
		out(legalUR(), func(h *Header) { h.RequesterID = 0 }),
	}, nil},
	{"poisoned read", RulePoison, "EP", "expected 0, got 1", []step{out(legalRead(), func(h *Header) { h.EP = true })},
		[]step{in(legalUR(), nil)}},
	{"digest", RuleDigest, "TD", "expected 0, got 1", []step{out(legalWrite(), func(h *Header) { h.TD = true })}, nil},
	{"routing reserved", RuleMessage, "Routing", "at most gathered, got Routing(6)",
		[]step{out(legalMsg(), func(h *Header) { h.Routing = 6 })}, nil},
	{"routing", RuleMessage, "Routing", "got address",
		[]step{out(legalMsg(), func(h *Header) { h.Routing = RouteByAddress })}, nil},
	{"target", RuleMessage, "TargetID", "expected 00:00.0, got 01:00.0",
		[]step{out(legalMsg(), func(h *Header) { h.TargetID = 0x0100 })}, nil},
}

func TestEachRuleFires(t *testing.T) {
	fired := map[Rule]bool{RuleTagRange: true, RuleOutstanding: true} // other tests break these rules
	for _, c := range ruleCases {
		t.Run(c.name, func(t *testing.T) {
			fired[c.rule] = true
			m := newTestMonitor(t, func(cfg *MonitorConfig) { cfg.DeviceID, cfg.CheckDeviceID = 0x0200, true })
			last := len(c.steps) - 1
			for i, s := range c.steps[:last] {
				require.Empty(t, s.check(t, m, uint64(i)), "step %d", i)
			}
			vs := append([]Violation(nil), c.steps[last].check(t, m, 77)...)
			require.Len(t, vs, 1, "%v", vs)
			require.Equal(t, c.rule, vs[0].Rule)
			require.Equal(t, c.field, vs[0].Field)
			require.Equal(t, c.steps[last].dir, vs[0].Dir)
			require.Contains(t, vs[0].String(), c.text)
			require.Contains(t, vs[0].String(), fmt.Sprintf("cycle 77 %v: rule T%02d %v (PCIe 2.", vs[0].Dir, c.rule,
				c.rule))
			require.EqualValues(t, 1, m.Broken(c.rule))
			for i, s := range c.after {
				require.Empty(t, s.check(t, m, uint64(i)), "after, step %d", i)
			}
			require.Empty(t, m.End())
		})
	}
	for r := Rule(1); r < numRules; r++ {
		require.True(t, fired[r], "rule %v has no test", r)
		require.NotEmpty(t, r.String())
		require.Contains(t, r.Ref(), "PCIe 2.")
	}
}

func TestTagRange(t *testing.T) {
	m := newTestMonitor(t, func(c *MonitorConfig) { c.Tags = 32 })
	require.Empty(t, out(legalRead(), func(h *Header) { h.Tag = 31 }).check(t, m, 0))
	vs := out(legalRead(), func(h *Header) { h.Tag = 32 }).check(t, m, 0)
	require.Len(t, vs, 1)
	require.Equal(t, RuleTagRange, vs[0].Rule)
	require.Contains(t, vs[0].String(), "expected at most 0x1f, got 0x20")
	require.Empty(t, out(legalWrite(), func(h *Header) { h.Tag = 255 }).check(t, m, 0), "a write's tag is its own")
}

func TestOutstandingAtEnd(t *testing.T) {
	m := newTestMonitor(t, nil)
	for i, tag := range []uint8{9, 3, 5} {
		require.Empty(t, out(legalRead(), func(h *Header) { h.Tag = tag }).check(t, m, uint64(10+i)))
	}
	require.Empty(t, in(legalRead(), nil).check(t, m, 20))
	require.Empty(t, in(legalCpl1(), nil).check(t, m, 21))
	require.Equal(t, 3, m.Outstanding(FromDevice))
	require.True(t, m.Abandon(FromDevice, 0x0200, 9))
	require.False(t, m.Abandon(FromDevice, 0x0200, 9))
	for range 2 {
		var got []string
		for _, v := range m.End() {
			require.Equal(t, RuleOutstanding, v.Rule)
			got = append(got, fmt.Sprintf("%v %d %d %d", v.Dir, v.Header.Tag, v.Cycle, v.Got))
		}
		require.Equal(t, []string{"from device 3 11 256", "from device 5 12 160", "to device 5 20 256"}, got)
	}
	require.Contains(t, m.End()[0].String(), "rule T22 outstanding-at-end (PCIe 2.8): ByteCount expected 0, got 256: "+
		"MRd32")
}

func TestLimitsChangeWhileRunning(t *testing.T) {
	m := newTestMonitor(t, nil)
	big := out(legalWrite(), func(h *Header) { h.Length = 64 })
	require.Len(t, big.check(t, m, 0), 1)
	wide := Limits{MPS: 256, MRRS: 1024, RCB: 128}
	require.NoError(t, m.SetLimits(wide))
	require.Empty(t, big.check(t, m, 0))
	require.NoError(t, m.Announce(DefaultLimits()))
	require.Empty(t, big.check(t, m, 0), "old and new are both legal")
	m.Settle()
	require.Len(t, big.check(t, m, 0), 1)
	require.Error(t, m.SetLimits(Limits{}))
	require.Error(t, m.Announce(Limits{}))
	require.Len(t, big.check(t, m, 0), 1, "a refused change changes nothing")

	require.NoError(t, m.SetLimits(wide))
	require.Empty(t, out(legalRead(), nil).check(t, m, 0))
	at64 := in(legalCpl1(), func(h *Header) { h.Length = 8 })
	require.Equal(t, RuleRCB, at64.check(t, m, 0)[0].Rule, "an RCB of 128 forbids a split at 0x1040")
	require.NoError(t, m.Announce(Limits{MPS: 256, MRRS: 1024, RCB: 64}))
	require.Empty(t, in(legalCpl2(), func(h *Header) { h.Length, h.ByteCount, h.LowerAddr = 32, 224, 0x40 }).check(t, m,
		0))
	peer := in(legalRead(), func(h *Header) { h.Length, h.Address = 1024, 0 })
	require.Empty(t, peer.check(t, m, 0), "MRRS is the device's, not its peer's")
}

func TestMonitorConfigValidate(t *testing.T) {
	_, err := NewMonitor(MonitorConfig{Tags: 64})
	for _, want := range []string{"limits.mps 0: want", "limits.mrrs 0: want", "limits.rcb 0: want", "PeerMRRS is 0 B",
		"64 tags"} {
		require.ErrorContains(t, err, want)
	}
}

func TestMonitorAllocatesNothing(t *testing.T) {
	m := newTestMonitor(t, nil)
	read, cpl := legalRead(), legalUR()
	var rw, cw [HeaderBytes]byte
	require.Zero(t, testing.AllocsPerRun(20, func() {
		for tag := range 256 {
			read.Tag = uint8(tag)
			if read.Encode(&rw) != nil || len(m.CheckRaw(FromDevice, 0, &rw, nil)) != 0 {
				t.Error("read refused")
			}
		}
		for tag := range 256 {
			cpl.Tag = uint8(tag)
			if cpl.Encode(&cw) != nil || len(m.CheckRaw(ToDevice, 0, &cw, nil)) != 0 {
				t.Error("completion refused")
			}
		}
	}))
	require.Empty(t, m.End())
}

// TestOutstandingTable compares the table with a map, using IDs that collide and make the table
// grow.
func TestOutstandingTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := outstanding{slots: make([]request, 8)}
		want := map[uint32]uint64{}
		for cycle := range uint64(200) {
			id := rapid.Uint32Range(0, 40).Draw(t, "id") * 0x111
			r := request{hdr: Header{RequesterID: uint16(id >> 8), Tag: uint8(id)}, cycle: cycle}
			if _, there := want[id]; there {
				require.True(t, o.remove(id))
				delete(want, id)
			} else {
				require.False(t, o.remove(id))
				o.add(&r)
				want[id] = cycle
			}
			require.Equal(t, len(want), o.count)
			for id, c := range want {
				require.NotNil(t, o.find(id))
				require.Equal(t, c, o.find(id).cycle)
			}
		}
	})
}

// FuzzMonitor: the monitor reports violations of arbitrary headers, and does not panic.
func FuzzMonitor(f *testing.F) {
	for _, v := range headerVectors {
		hdr := unhex(f, v.wire)
		f.Add(hdr[:], 4)
	}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		m := newTestMonitor(t, nil)
		data := make([]byte, min(max(n, 0), 2*PageBytes))
		for i := 0; len(b) > 0; i++ {
			var hdr [HeaderBytes]byte
			b = b[copy(hdr[:], b):]
			for _, v := range m.CheckRaw(Dir(i&1), uint64(i), &hdr, data) {
				if v.Rule == 0 || v.String() == "" {
					t.Fatalf("empty violation of %x", hdr)
				}
			}
		}
		_ = m.End()
	})
}
