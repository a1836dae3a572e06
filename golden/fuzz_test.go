package golden

import (
	"encoding/binary"
	"testing"

	"nictwin/models/nic/boundary"
)

// FuzzReferee changes a recorded run in many places, inputs and outputs: the referee must always return a report.
func FuzzReferee(f *testing.F) {
	c := newChaos(f, chaosOpt{seed: 15, steps: 60, faults: true, config: true, queues: true})
	c.run()
	clean, cfg := c.r.tape, DefaultConfig(c.r.opt.spec.Build)
	cfg.HoldBytes = 1 << 16
	cfg.OnFrame = func(*FrameEvent) {}
	f.Add([]byte{})
	f.Add([]byte{0, 1, 0, 0, 0, 9, 1, 2, 0, 0, 0, 9})
	f.Add([]byte{2, 1, 1, 0, 1, 9, 3, 1, 3, 0, 0, 9, 4, 1, 1, 4, 3, 9})
	f.Fuzz(func(t *testing.T, edits []byte) {
		p := &tape{t: t, s: append([]boundary.Crossing(nil), clean...)}
		for ; len(edits) >= 6 && len(p.s) > 2; edits = edits[6:] {
			p.damage(edits[0], int(binary.LittleEndian.Uint16(edits[1:])), int(binary.LittleEndian.Uint16(edits[3:])),
				edits[5])
		}
		rep := judge(t, cfg, p.s)
		if _, err := rep.JSON(); err != nil {
			t.Fatal(err)
		}
		if rep.Result != Pass && rep.Reason == "" || rep.String() == "" {
			t.Fatalf("a report without a reason: %+v", rep)
		}
	})
}

// damage changes the crossing at index at; op chooses how.
func (p *tape) damage(op uint8, at, where int, v uint8) {
	i := at % (len(p.s) - 1)
	p.s[i] = clone(p.s[i])
	x := &p.s[i]
	switch op % 7 {
	case 0:
		p.drop(i)
	case 1:
		p.insert(i, clone(*x))
	case 2:
		p.swap(i, where%len(p.s))
		if p.s[i].Kind.IsTLP() != (p.s[i].TLP != nil) {
			p.swap(i, where%len(p.s))
		}
	case 3:
		if x.TLP != nil {
			x.TLP.Hdr[where%16] ^= v
		} else {
			x.Frame.Queue = int(v) - 1
		}
	case 4:
		if b := bytesOf(x); len(*b) > 0 {
			(*b)[where%len(*b)] ^= v
		}
	case 5:
		b := bytesOf(x)
		*b = (*b)[:len(*b)*int(v)/255]
	case 6:
		b := bytesOf(x)
		*b = append(*b, make([]byte, where%12000)...)
	}
}

// bytesOf returns the frame or the payload that crossed.
func bytesOf(x *boundary.Crossing) *[]byte {
	if x.TLP != nil {
		return &x.TLP.Data
	}
	return &x.Frame.Data
}
