package kit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
)

// CardFor is a card with the endpoint that checks want, and with the clock for which they count cycles: that of
// time-outs above all, which are 1,024 cycles at least. Its links take the largest MPS and MRRS that software may set,
// as checks do. Its Ethernet is as far away as its software, so that a frame that is played after a doorbell comes
// after it.
func CardFor(card *board.CardSpec, e board.Endpoint) *board.CardSpec {
	c, sw := *card, *card.Switch
	most := tlp.Limits{MPS: tlp.PageBytes, MRRS: tlp.PageBytes, RCB: 64}
	for _, d := range [...]*board.Downlink{&sw.Arm, &sw.Host} {
		if d.PCIe != nil {
			link := *d.PCIe
			link.Ends = [2]tlp.Limits{most, most}
			d.PCIe = &link
		}
	}
	c.Eth.Latency = c.PCIe.Latency + sw.Latency + max(latencyOf(&sw.Arm), latencyOf(&sw.Host))
	c.Switch, c.Endpoint, c.Period = &sw, e, simcore.DefaultPeriodPs
	return &c
}

// wayOf is how many cycles a TLP takes from software to the NIC or back, with what memory takes on a card.
func wayOf(c *board.CardSpec) int {
	if c == nil {
		return LinkCycles
	}
	const memory = 300 * simcore.Nanosecond
	way := c.PCIe.Latency + c.Switch.Latency + memory
	way += max(latencyOf(&c.Switch.Arm), latencyOf(&c.Switch.Host))
	return int(way / simcore.Freq{PeriodPs: c.Period}.Period())
}

// latencyOf is that of the link before a root.
func latencyOf(d *board.Downlink) simcore.Ps {
	if d.PCIe != nil {
		return d.PCIe.Latency
	}
	return d.Fabric.Latency
}

// flush waits until all that the NIC wrote before is in memory. Behind a switch an entry in one memory does not prove
// that payload in the other is there.
func (r *Rig) flush() {
	r.T.Helper()
	f, apart := r.Bed.Bus.(driver.Flusher)
	if !apart {
		return
	}
	left := 0
	for _, ep := range [...]int{nicspec.EndpointArm, nicspec.EndpointHost} {
		left++
		f.Flush(ep, func(err error) {
			require.NoError(r.T, err)
			left--
		})
	}
	r.Until("what was written is in memory", func() bool { return left == 0 })
}
