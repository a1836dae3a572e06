package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

const sharedBuf = 0x0100_0001_0000_0040

// sharedBuffers records frames for two queues whose descriptors all name one buffer. Queue 0 splits its frames, and
// header and payload go to that buffer as well.
func sharedBuffers(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegDevctl, 1|2<<4)
	m.Write32(nicspec.RegCtrl, 3)
	for q := range 2 {
		m.rule(q, dmacRule(uint8(q+1), nicspec.ActionQueue, q))
		m.OpenRx(q, 3, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitMode(1-q), 66 })
		for range 8 {
			m.Post(q, sharedBuf, sharedBuf)
		}
		m.RingRx(q)
	}
	r.step(simcore.Microsecond)
	for i := range 8 {
		f := pattern(300+40*i, uint64(i))
		f[0] = byte(i%2+1) << 1
		r.peers[0].send(f)
	}
	m.readCounters()
	cfg := DefaultConfig(o.spec.Build)
	cfg.ForbidNoDesc, cfg.ForbidOverflow = true, true
	return cfg, r.tape
}

func sharedPut(n int) pick {
	return out(tlp.MWr, func(h *tlp.Header, x *boundary.Crossing) bool {
		return h.Address&^0xffff == sharedBuf&^0xffff && len(x.TLP.Data) >= n
	})
}

// A write to shared buffers belongs to the frame whose bytes it has. The device may write the frames of both queues
// in any order, but it must write every byte of each frame once, and in time.
func TestSharedBuffers(t *testing.T) {
	cfg, clean := sharedBuffers(t)
	p := newTape(t, clean)
	p.move(p.find(2, sharedPut(1)), p.find(0, rxCqe(0))) // a write of queue 1 comes before queue 0's frame is complete
	got := judge(t, cfg, p.s)
	require.True(t, got.Passed(), "%v", got)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"a byte is wrong", func(p *tape) { p.get(1, sharedPut(64)).TLP.Data[9] ^= 1 }, "rxq", "R10", ""},
		{"a write is missing", func(p *tape) { p.drop(p.find(1, sharedPut(64))) }, "rxq", "P9", ""},
		{"a write comes twice", func(p *tape) { i := p.find(1, sharedPut(64)); p.insert(i+1, clone(p.s[i])) }, "",
			"R10", ""},
		{"the last write comes twice", func(p *tape) { i := last(p, sharedPut(64)); p.insert(i+1, clone(p.s[i])) }, "",
			"R10", ""},
		{"the last write comes again after its entry",
			func(p *tape) { i := last(p, sharedPut(64)); p.insert(last(p, rxCqe(1))+1, clone(p.s[i])) }, "", "", ""},
		{"a write comes after its entry", func(p *tape) { p.move(last(p, sharedPut(64)), last(p, rxCqe(1))+1) }, "rxq",
			"P9", ""},
		{"a write comes before its frame", func(p *tape) { p.move(p.find(0, sharedPut(64)), p.find(0, frameIn)) },
			"rxq", "R10", "write"},
	})
}

// A frame cannot claim a write that was made before the frame came in, even if the write has the frame's bytes.
func TestSharedWriteBeforeItsFrame(t *testing.T) {
	cfg, clean := sharedBuffers(t)
	sabotagesAreCaught(t, cfg, clean, []sabotage{{"a write comes before its frame, but after another", func(p *tape) {
		p.move(last(p, sharedPut(64)), last(p, frameIn)-1)
	}, "rxq", "P9", ""}})
}
