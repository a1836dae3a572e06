package fuzz

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/player"
)

// forge changes the payload of an observed TLP.
func forge(c *boundary.Crossing, change func(data []byte)) {
	p := new(tlp.Packet)
	copy(p.Own(len(c.TLP.Data)), c.TLP.Data)
	p.Hdr = c.TLP.Hdr
	change(p.Data)
	c.TLP = p
}

// rare lists bugs that show in few cases. Each alters the crossings that the referee sees, and names the rule that the
// NIC then seems to break.
var rare = []struct {
	bug, rule string
	lie       func() func(c *boundary.Crossing)
}{
	{"a UDP checksum of 0 is sent as it is", "[T8]", func() func(c *boundary.Crossing) {
		return func(c *boundary.Crossing) {
			if c.Kind != boundary.FrameOut || len(c.Frame.Data) < nicspec.FrameMin {
				return
			}
			var h core.Headers
			if core.Parse(c.Frame.Data, nicspec.ResetRocePort, &h); h.L4Type != nicspec.L4TypeUdp {
				return
			}
			if at := h.L4Off + 6; binary.BigEndian.Uint16(c.Frame.Data[at:]) == 0xffff {
				c.Frame = &ether.Frame{Port: c.Frame.Port, Queue: c.Frame.Queue, Data: slices.Clone(c.Frame.Data)}
				clear(c.Frame.Data[at : at+2])
			}
		}
	}},
	{"a received UDP checksum of 0xffff is taken for none", "[H9]", func() func(c *boundary.Crossing) {
		var fields []bool // by ordinal: the UDP checksum field of the received frame is 0xffff
		return func(c *boundary.Crossing) {
			var h core.Headers
			switch {
			case c.Kind == boundary.FrameIn:
				core.Parse(append(slices.Clone(c.Frame.Data), make([]byte, nicspec.FrameMin)...), nicspec.ResetRocePort,
					&h)
				at := int(h.L4Off) + 6
				fields = append(fields, h.L4Type == nicspec.L4TypeUdp && at+2 <= len(c.Frame.Data) &&
					binary.BigEndian.Uint16(c.Frame.Data[at:]) == 0xffff)
			case c.Kind == boundary.TLPOut && c.TLP.Parsed().Kind == tlp.MWr && len(c.TLP.Data) == nicspec.CqeBytes:
				if e := nicspec.RxCqe(c.TLP.Data); e.Type() == nicspec.CqeTypeRx && int(e.PortSeq()) < len(fields) &&
					fields[e.PortSeq()] {
					forge(c, func(data []byte) { nicspec.RxCqe(data).SetL4Csum(nicspec.VerdictNotChecked) })
				}
			}
		}
	}},
	// Here the referee is shown a valid rule where the device was given an invalid one: the device then drops a rule
	// that the referee still applies.
	{"a rule that is made invalid goes on", "[R", func() func(c *boundary.Crossing) {
		const valid = 28 // number of the 32-bit word of a RuleEntry whose first field is `valid`
		return func(c *boundary.Crossing) {
			if c.Kind == boundary.TLPIn && c.TLP.Parsed().Kind == tlp.MWr &&
				c.TLP.Parsed().Address == nicspec.BarBase+uint64(nicspec.RegTblData(valid)) {
				forge(c, func(data []byte) { data[0] |= 1 })
			}
		}
	}},
	{"a copy has the status of one that failed before it", "[D", func() func(c *boundary.Crossing) {
		var failed [player.CopyChannels]nicspec.Status
		return func(c *boundary.Crossing) {
			if c.Kind != boundary.TLPOut || c.TLP.Parsed().Kind != tlp.MWr || len(c.TLP.Data) != nicspec.CqeBytes {
				return
			}
			e := nicspec.TxCqe(c.TLP.Data)
			if e.Type() != nicspec.CqeTypeTx || e.FrameLen() != 0 {
				return
			}
			switch last := &failed[e.Queue()%player.CopyChannels]; {
			case e.Status() >= nicspec.StatusCplUnsupported:
				*last = e.Status()
			case e.Status() == nicspec.StatusOk && *last != nicspec.StatusOk:
				forge(c, func(data []byte) { nicspec.TxCqe(data).SetStatus(*last) })
			}
		}
	}},
}

// At most 40 programs are needed to find each of these bugs.
func TestRareBugsAreFound(t *testing.T) {
	for _, c := range rare {
		t.Run(c.bug, func(t *testing.T) {
			sabotaged := func(s testbed.Spec) (*testbed.Bed, error) {
				b, err := model(s)
				if err == nil {
					b.NIC = &liar{b.NIC, c.lie()}
				}
				return b, err
			}
			o := begun(t, options(device.Model, 0))
			o.Ports = 1
			for number := 0; ; number++ {
				require.Less(t, number, 40, "programs until the bug is found")
				v := player.Run(o.generate(number), t.Context(), sabotaged, nil)
				if v.Pass() {
					continue
				}
				require.True(t, v.Mismatch(), "%v", v.Err)
				require.Contains(t, v.Key(), c.rule, "program %d", number)
				return
			}
		})
	}
}

// 300 programs reach rare events that the generator once never produced.
func TestRareThingsHappen(t *testing.T) {
	o := options(device.Model, 300)
	o.Seed = 5
	hits := passes(t, o).Coverage.Hits
	for _, bin := range coverage.RareWords {
		require.Positive(t, hits["rare"][bin], bin)
	}
	for group, least := range map[string]int{"long copies": 4, "ends of long copies": 3,
		"copies held back":              len(coverage.BehindCopies),
		"failing reads of work entries": len(coverage.BehindFailed), "frames older than their queue": 3} {
		require.GreaterOrEqual(t, len(hits[group]), least, "bins of %s: %v", group, hits[group])
	}
	require.Positive(t, hits["resets"][coverage.FrameHangs])
}
