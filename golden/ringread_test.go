package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// A device that forgets to wrap an index reads beyond the ring's end. The mismatch must point at the code that
// reads rings, not at that of pieces.
func TestReadsBeyondARingsEnd(t *testing.T) {
	const log = 2
	r := newRig(t, smallRig())
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0)
	m.OpenRx(0, log, nil)
	m.OpenTx(0, log)
	for range 2 { // rounds of the ring
		m.post(0, 1<<log)
		for range 1 << log {
			m.push(0, &nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
			r.peers[0].send(make([]byte, nicspec.FrameMin))
		}
		m.RingTx(0)
		r.settle()
	}
	m.readCounters()
	cfg := DefaultConfig(r.opt.spec.Build)
	require.True(t, judge(t, cfg, r.tape).Passed())
	for _, c := range []struct {
		read         pick
		entry        uint64
		domain, rule string
		rtl          string
	}{
		{wqeRead(0), nicspec.WqeBytes, "txq 0", "T2", "verilator/rtl/workqueues/nic_txq_fetch.sv"},
		{descRead(0), nicspec.RxDescBytes, "rxq 0", "Q3", "verilator/rtl/receive/nic_rxfetch.sv"},
	} {
		p := newTape(t, r.tape)
		first, x := tlp.Parse(&p.get(0, c.read).TLP.Hdr), p.get(1, c.read)
		p.header(x, func(h *tlp.Header) {
			require.Equal(t, first.Address, h.Address, "the second lap")
			h.Address += c.entry << log
		})
		m := judge(t, cfg, p.s).List[0]
		require.Equal(t, []string{c.domain, c.rule, "Address", c.rtl}, []string{m.Domain, m.Rule, m.Field, m.RTLFile},
			"%v", m)
	}
}
