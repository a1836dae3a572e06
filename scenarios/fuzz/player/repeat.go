package player

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

const (
	// restCycles is the time without progress after which an operation that feeds a queue gives up. That is no failure
	// yet: whether the NIC hangs is decided at the end of the program.
	restCycles = 10_000
	// feedBytes bounds the share of the receive buffer that a batch of frames takes, so that none is lost [R3].
	feedBytes = nicspec.RxBufBytes - 2*nicspec.FrameMax
)

// variation returns a frame of the same length and the n-th variant of its bytes.
func variation(f program.Frame, n int) program.Frame {
	const apart = 7919 // more than the difference between the seeds of any two frames of the operation
	f.Seed += uint64(n) * apart
	return f
}

// sendRepeatedly posts the entries of s as often as s.Times says, in batches that fit into the ring.
func (x *player) sendRepeatedly(s *program.Send) error {
	for at, end := 0, s.Times*len(s.Entries); at < end; {
		r := x.tx[s.Queue]
		if r == nil || r.event {
			return nil
		}
		room := func() int { return r.Size() - int(r.PI-r.done) }
		part := max(nicspec.WqeBlocksMax, r.Size()/4)
		if goes, err := x.waitWhileProgress(func() bool { return r.event || room() >= part },
			func() int { return int(r.done) }); !goes || err != nil {
			return err
		}
		o := program.Send{Queue: s.Queue, Hold: s.Hold, Short: s.Short, Pause: s.Pause}
		for blocks := 0; at < end; at++ {
			e := s.Entries[at%len(s.Entries)]
			if blocks += 1 + int(e.Blocks); blocks > room() {
				break
			}
			e.Frame = variation(e.Frame, at/len(s.Entries))
			o.Entries = append(o.Entries, e)
		}
		if err := x.send(&o); err != nil {
			return err
		}
	}
	return nil
}

// feed plays frames for a receive queue and posts a descriptor for each, in batches that fit into the ring.
func (x *player) feed(f *program.Feed) error {
	to := x.b.Players[f.Port%len(x.b.Players)]
	for at, end := 0, f.Times*len(f.Frames); at < end; {
		r := x.rx[f.Queue]
		if r == nil || r.event {
			return nil
		}
		room := func() int { return r.Size() - int(r.PI-uint16(r.frees)) }
		part := max(1, r.Size()/4)
		ready := func() bool { return r.event || room() >= part && x.played() }
		if goes, err := x.waitWhileProgress(ready, func() int { return r.frees + to.Sent() }); !goes || err != nil {
			return err
		}
		most := room()
		if at == 0 {
			most = min(most, part+1) // otherwise all batches would fill the ring, and one would end at index 65,536
		}
		p := program.Play{Port: f.Port}
		for bytes := 0; at < end && len(p.Frames) < most; at++ {
			g := variation(f.Frames[at%len(f.Frames)], at/len(f.Frames))
			if bytes += (len(g.Bytes(max(1, g.Len))) + 63) &^ 63; bytes > feedBytes && len(p.Frames) > 0 {
				break
			}
			p.Frames = append(p.Frames, g)
		}
		if err := x.post(&program.Post{Queue: f.Queue, Count: len(p.Frames), Hdr: f.Hdr, Pay: f.Pay}); err != nil {
			return err
		}
		x.frames(&p)
	}
	return nil
}

// waitWhileProgress waits until holds returns true, or until progress has not changed for restCycles. It reports
// whether holds did.
func (x *player) waitWhileProgress(holds func() bool, progress func() int) (bool, error) {
	const step = 16
	last := progress()
	for n := 0; !holds(); n += step {
		if p := progress(); p != last {
			n, last = 0, p
		}
		if n > restCycles {
			return false, nil
		}
		if err := x.run(step); err != nil {
			return false, err
		}
	}
	return true, nil
}
