package kit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
)

// CardFor returns the card with the endpoint that checks need, and with the default clock, since checks count cycles:
// time-outs, above all, take at least 1,024 of them. Its links allow the largest MPS and MRRS, since checks set them.
// Ethernet has the latency of the path from software, so that a frame played after a doorbell arrives after it.
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

// oneWayCycles returns the cycles that a TLP takes from software to the NIC or back, memory access included.
func oneWayCycles(c *board.CardSpec) int {
	if c == nil {
		return LinkCycles
	}
	const memory = 300 * simcore.Nanosecond
	way := c.PCIe.Latency + c.Switch.Latency + memory
	way += max(latencyOf(&c.Switch.Arm), latencyOf(&c.Switch.Host))
	return int(way / simcore.Freq{PeriodPs: c.Period}.Period())
}

// latencyOf returns the latency of the link to a root complex.
func latencyOf(d *board.Downlink) simcore.Ps {
	if d.PCIe != nil {
		return d.PCIe.Latency
	}
	return d.Fabric.Latency
}

// flush waits until everything that the NIC has written is in memory. Behind a switch, a completion entry that has
// arrived in one memory does not prove that its payload has arrived in the other.
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
	r.Until("everything written is in memory", func() bool { return left == 0 })
}
