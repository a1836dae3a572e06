package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

const (
	devctlRO = 1 << 9
	devctlNS = 1 << 10
)

// attrRun records frames in both directions while the driver writes the settings to DEVCTL in turn.
func attrRun(t testing.TB, settings ...uint32) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Parts = nicspec.PartAttr
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegDevctl, settings[0])
	r.step(simcore.Microsecond) // wait until the reset value of DEVCTL no longer applies
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0)
	m.readable(pattern(keySpan, 1))
	m.OpenRx(0, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 64 })
	m.OpenTx(0, 5)
	m.post(0, 128)
	for i := range 60 {
		m.Write32(nicspec.RegDevctl, settings[i%len(settings)])
		m.push(0, entryAt(i%10, 1000+64*i))
		m.RingTx(0)
		r.peers[0].send(pattern(400+50*i, uint64(i)))
		r.step(300 * simcore.Nanosecond)
	}
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

func TestAttributesByKind(t *testing.T) {
	cfg, tape := attrRun(t, 1|2<<4|devctlRO|devctlNS)
	p := judge(t, cfg, tape)
	require.True(t, p.Passed(), "%v", p)
	var seen [2]int
	for i := range tape {
		if tape[i].Kind != boundary.TLPOut {
			continue
		}
		x := &tape[i]
		h := tlp.Parse(&x.TLP.Hdr)
		data := payWrite(0)(x) || hdrWrite(0)(x) || pieceRead(x)
		if data {
			seen[0]++
			require.Equal(t, tlp.RelaxedOrder|tlp.NoSnoop, h.Attr, "%v", h)
		} else {
			seen[1]++
			require.Zero(t, h.Attr, "%v", h)
		}
	}
	require.Greater(t, seen[0], 500)
	require.Greater(t, seen[1], 100)
}

func TestDevctlAtRunTime(t *testing.T) {
	cfg, tape := attrRun(t, 0, 2|5<<4|devctlRO, 1|1<<4, 1|2<<4|devctlNS, 0|5<<4|devctlNS|devctlRO)
	p := judge(t, cfg, tape)
	require.True(t, p.Passed(), "%v", p)
}

// setAttr changes the attributes of the n-th TLP of a kind.
func setAttr(n int, is pick, a tlp.Attr) func(p *tape) {
	return func(p *tape) { p.header(p.get(n, is), func(h *tlp.Header) { h.Attr = a }) }
}

// devctlAt inserts a write of DEVCTL before the n-th payload write.
func devctlAt(n int, v uint32) func(p *tape) {
	return func(p *tape) {
		x := clone(p.s[p.find(0, rung(nicspec.RegDevctl))])
		x.TLP.Data = []byte{uint8(v), uint8(v >> 8), 0, 0}
		p.insert(p.find(n, payWrite(0)), x)
	}
}

func TestAttributeSabotageIsCaught(t *testing.T) {
	const setting = 1 | 2<<4 | devctlRO
	cfg, clean := attrRun(t, setting)
	for i := len(clean) - 1; rung(nicspec.RegDevctl)(&clean[i]) || i > 200; i-- { // keep the first write of DEVCTL only
		if rung(nicspec.RegDevctl)(&clean[i]) {
			clean = append(clean[:i:i], clean[i+1:]...)
		}
	}
	require.True(t, judge(t, cfg, clean).Passed())
	for _, c := range []struct {
		name string
		edit func(p *tape)
		rule string
	}{
		{"payload write without", setAttr(9, payWrite(0), 0), "P11"},
		{"payload write with no snoop", setAttr(9, payWrite(0), tlp.RelaxedOrder|tlp.NoSnoop), "P11"},
		{"header write without", setAttr(3, hdrWrite(0), 0), "P11"},
		{"piece read without", setAttr(9, pieceRead, 0), "P11"},
		{"descriptor read with", setAttr(3, descRead(0), tlp.RelaxedOrder), "P11"},
		{"work entry read with", setAttr(3, wqeRead(0), tlp.RelaxedOrder), "P11"},
		{"completion entry with", setAttr(3, rxCqe(0), tlp.RelaxedOrder), "P11"},
		{"completion entry with, transmit", setAttr(3, txCqe(0), tlp.RelaxedOrder), "P11"},
		{"ID-based ordering", setAttr(3, payWrite(0), tlp.RelaxedOrder|tlp.IDBasedOrder), "P11"},
		{"former limits for long", devctlAt(20, 0|2<<4|devctlRO), "P10"},
		{"former attributes for long", devctlAt(20, 1|2<<4|devctlNS), "P10"},
		{"former limits for a while", devctlAt(300, 0|2<<4|devctlRO), ""},
		{"larger limits to come", devctlAt(20, 2|5<<4|devctlRO), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTape(t, clean)
			c.edit(p)
			got := judge(t, cfg, p.s)
			if c.rule == "" {
				require.True(t, got.Passed(), "%v", got)
				return
			}
			require.Equal(t, Differs, got.Result)
			t.Log(got.List[0])
			require.Equal(t, c.rule, got.List[0].Rule)
		})
	}
}
