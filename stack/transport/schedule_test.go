package transport

import (
	"fmt"

	"nictwin/stack/verbs"
)

// schedule determines a run completely. It follows from a seed; shrinking removes messages and faults.
type schedule struct {
	seed       uint64
	recovery   Recovery
	mtu        verbs.MTU
	window     int
	shares     [2]int // packets that each end can hold; 0: no limit
	resize     Ps     // time after which `shares` changes again; 0: it is constant
	ops        [2]int // number of requests posted by each side
	psn        [2]uint32
	latency    Ps
	packetTime Ps
	copyDelay  Ps
	lateRecv   Ps  // longest delay of receive requests
	lost       int // rate per 1024 packets, like twice, late, marked and flipped
	twice      int
	late       int
	lateBy     Ps
	marked     int
	flipped    int   // packets with one bit flipped
	faulty     uint8 // largest number of faults that one packet can meet
	timeout    uint8
	retries    uint8
	rnrs       uint8
	maxRead    uint8
	ackEvery   int
	slack      int
	spray      int
	credits    bool
	frames     bool
	v6         bool        // IPv6 addresses
	refuse     refusalKind // how side 1 is made to refuse a request of side 0
	refuseAt   int
	blackhole  Ps   // time from which everything is lost; 0: never
	pause      Ps   // time at which side 0 goes to SQD, and back once drained; 0: never
	kill       Ps   // time at which side 1 goes to ERR; 0: never
	paced      bool // the connections have a pacer
	burst      bool // all requests are posted at once
}

func (s *schedule) String() string { return fmt.Sprintf("%+v", *s) }

// hash mixes the seed with other numbers (SplitMix64).
func (s *schedule) hash(by ...uint64) uint64 {
	h := s.seed
	for _, b := range by {
		h += 0x9e3779b97f4a7c15 + b
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// draw picks an element of a list.
func draw[T any](s *schedule, what uint64, from ...T) T {
	return from[s.hash(what, 1000)%uint64(len(from))]
}

const us = 1_000_000 // picoseconds

// drawSchedule returns the schedule of a seed.
func drawSchedule(seed uint64) schedule {
	s := schedule{seed: seed}
	s.recovery = draw(&s, 1, GoBackN, SelectiveRepeat)
	s.mtu = draw(&s, 2, verbs.MTU256, verbs.MTU256, verbs.MTU256, verbs.MTU512)
	s.window = 64
	if s.recovery == GoBackN {
		s.window = draw(&s, 3, 1, 2, 3, 8, 64, 512)
	}
	s.ops = [2]int{draw(&s, 4, 1, 2, 4, 8, 12, 40), draw(&s, 5, 0, 0, 1, 4, 8)}
	s.psn = [2]uint32{draw[uint32](&s, 6, 0, 0xfffffe, 0xfffff0, 0x7ffffc, 0x123456),
		draw[uint32](&s, 7, 0, 0xfffffd, 0x800000)}
	s.latency, s.packetTime = us, draw[Ps](&s, 8, 20_000, 100_000, 400_000)
	s.copyDelay = draw[Ps](&s, 9, 0, 500_000, 5*us)
	s.lateRecv = draw[Ps](&s, 10, 0, 0, 5*us, 60*us)
	s.lost = draw(&s, 11, 0, 0, 10, 50, 200)
	s.twice = draw(&s, 12, 0, 0, 20, 200)
	s.late = draw(&s, 13, 0, 0, 20, 300)
	s.lateBy = draw[Ps](&s, 14, us, 4*us, 25*us)
	s.marked = draw(&s, 15, 0, 100)
	s.faulty = draw[uint8](&s, 16, 1, 2)
	s.timeout = draw[uint8](&s, 17, 3, 3, 4)
	s.retries, s.rnrs = 7, 7
	s.maxRead = draw[uint8](&s, 18, 1, 2, 16)
	s.ackEvery = draw(&s, 19, 1, 2, 16)
	s.slack = draw(&s, 20, 0, 3, 8)
	s.spray = draw(&s, 21, 0, 0, 4)
	s.credits = draw(&s, 22, false, false, true)
	s.frames = draw(&s, 23, false, false, false, false, false, false, false, true)
	s.v6 = draw(&s, 25, false, false, false, true)
	s.burst = draw(&s, 26, false, false, true)
	s.paced = draw(&s, 24, false, false, false, true)
	s.flipped = draw(&s, 27, 0, 0, 0, 60)
	s.shares = [2]int{draw(&s, 50, 0, 1, 2, 7, 40), draw(&s, 51, 0, 1, 2, 7, 40)}
	s.resize = draw[Ps](&s, 53, 0, 0, 3*us, 20*us)
	s.drawEnd()
	return s
}

// drawEnd decides whether the connection is ended or interrupted.
func (s *schedule) drawEnd() {
	at := Ps(s.hash(30) % (30 * us))
	switch s.hash(31) % 16 {
	case 0, 1:
		s.refuse = refusalKind(1 + s.hash(32)%uint64(refusalKinds-1))
		s.refuseAt = int(s.hash(33) % uint64(s.ops[0]))
	case 2:
		s.blackhole = at + 1
		s.retries = draw[uint8](s, 34, 0, 1, 7)
	case 3:
		s.kill = at + 1
	case 4, 5:
		s.pause = at + 1
	case 6: // few retries, which are likely to run out
		s.retries, s.rnrs = draw[uint8](s, 35, 0, 1, 2), draw[uint8](s, 36, 0, 1, 3)
	}
}

// fate holds the faults and delays of a packet on the network.
type fate struct {
	lost, twice, marked, flipped bool
	delay, gap                   Ps
}

// fate decides what happens to a packet. It follows from the seed and the packet's identity.
func (r *rig) fate(f fault) fate {
	if r.blackhole != 0 && r.now >= r.blackhole {
		return fate{lost: true}
	}
	if f.attempt >= r.faulty || r.spared[f] {
		return fate{}
	}
	h := r.hash(uint64(f.from), uint64(f.op), uint64(f.psn), uint64(f.attempt), 40)
	hits := func(rate int) bool {
		h = h*6364136223846793005 + 1442695040888963407
		return int(h>>40&1023) < rate
	}
	var x fate
	x.lost, x.twice, x.marked = hits(r.lost), hits(r.twice), hits(r.marked)
	if hits(r.late) {
		x.delay = Ps(h >> 20 % uint64(r.lateBy))
	}
	if x.twice {
		x.gap = Ps(h >> 18 % uint64(8*r.lateBy))
	}
	x.flipped = hits(r.flipped)
	if x != (fate{}) {
		r.faults = append(r.faults, f)
	}
	return x
}

// mayFail reports whether a connection may end in an error although nothing is refused.
func (s *schedule) mayFail() bool {
	return s.blackhole != 0 || s.kill != 0 || s.retries < 7 || s.rnrs < 7
}

// lossless reports whether every packet arrives once and in order.
func (s *schedule) lossless() bool {
	return s.lost == 0 && s.twice == 0 && s.late == 0 && s.flipped == 0 && s.blackhole == 0
}
