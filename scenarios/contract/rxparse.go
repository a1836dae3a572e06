package contract

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/nicspec"
)

var parseChecks = []check{
	{"parse/frames by hand", "H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11", calm, parseByHand},
	{"parse/RoCE opcodes", "H7", calm, roceOpcodes},
	{"parse/cut short", "H1 H2 H3 H4 H6 H7", calm, cutShort},
	{"parse/ROCE_PORT", "H6 G8", calm, rocePorts},
	{"parse/damaged at random", "H1 H2 H3 H4 H5 H6 H7 H8 H9 H10", calm, damaged},
	{"parse/checksums that are all ones or zero", "H8 H9", calm, edgeSums},
	{"parse/ICRC coverage", "H10", calm, icrcCoverage},
}

// parse delivers frames, 200 at a time, whose completion entries say what section 5 says.
func (r *rig) parse(frames [][]byte) {
	r.t.Helper()
	const lap = 200
	x := r.rx[0]
	if x == nil {
		x = r.openRx(0, 8, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
		r.receiveAll(0)
	}
	frames = slices.DeleteFunc(frames, func(f []byte) bool { return len(f) < nicspec.FrameMin })
	for len(frames) > 0 {
		n := min(lap, len(frames))
		first := r.ordinal()
		r.post(x, n)
		r.play(frames[:n]...)
		for i := range n {
			r.delivered(x, first+i, nicspec.RuleNone)
		}
		frames = frames[n:]
	}
}

// odd lists packets of every kind that the contract names.
func odd() []pkt {
	var all []pkt
	vlans := [][]uint32{nil, {tpidC<<16 | 0xe123}, {tpidS<<16 | 0x0fff}, {tpidS<<16 | 1, tpidC<<16 | 2}, {tpidC<<16 | 3, tpidS<<16 | 4},
		{tpidC<<16 | 5, tpidC<<16 | 6, tpidC<<16 | 7}, {0x9100<<16 | 8}}
	for _, tags := range vlans {
		for _, l3 := range []int{0, 4, 6} {
			for _, proto := range []uint8{protoUDP, protoTCP, 1, 0, 58} {
				all = append(all, pkt{tags: tags, l3: l3, proto: proto, payload: 90, tos: 0xb7, ttl: 1, sport: 7, dport: 4792, udpCsum: csumRight})
			}
			p := rocePacket(80)
			p.tags, p.l3, p.tos, p.ackReq, p.bthFlags = tags, l3, 0x5a, true, 0xb3
			all = append(all, p)
		}
	}
	vary := func(base pkt, mods ...func(*pkt)) {
		for _, l3 := range []int{4, 6} {
			for _, mod := range mods {
				p := base
				p.l3 = l3
				mod(&p)
				all = append(all, p)
			}
		}
	}
	for _, base := range []pkt{rocePacket(70), udpPacket(70), {l3: 4, proto: protoTCP, payload: 70}} {
		vary(base,
			func(p *pkt) { p.options = 4 }, func(p *pkt) { p.options = 40 }, func(p *pkt) { p.ihl = 4 }, func(p *pkt) { p.ihl = 6 },
			func(p *pkt) { p.ihl = 15 }, func(p *pkt) { p.ihl = 3 }, func(p *pkt) { p.version = 5 }, func(p *pkt) { p.version = 15 },
			func(p *pkt) { p.frag = 0x2000 }, func(p *pkt) { p.frag = 1 }, func(p *pkt) { p.frag = 0x3fff }, func(p *pkt) { p.frag = 0x4000 },
			func(p *pkt) { p.frag = 0x8000 }, func(p *pkt) { p.frag = 0x1000 }, func(p *pkt) { p.ipLen = 1 }, func(p *pkt) { p.ipLen = -1 },
			func(p *pkt) { p.ipLen = -200 }, func(p *pkt) { p.ipLen = 0x7000 }, func(p *pkt) { p.ipBad = true },
			func(p *pkt) { p.trailer = 9 }, func(p *pkt) { p.trailer, p.ipLen = 9, 9 }, func(p *pkt) { p.trailer, p.ipLen = 9, 10 },
			func(p *pkt) { p.udpCsum = csumRight }, func(p *pkt) { p.udpCsum = csumWrong }, func(p *pkt) { p.udpCsum = csumZero },
			func(p *pkt) { p.udpLen = 1 }, func(p *pkt) { p.udpLen, p.trailer = 1, 1 }, func(p *pkt) { p.udpLen, p.trailer = 2, 1 },
			func(p *pkt) { p.udpLen, p.udpCsum = -1, csumRight }, func(p *pkt) { p.udpLen, p.udpCsum = -66, csumRight },
			func(p *pkt) { p.udpLen = 0x4000 }, func(p *pkt) { p.icrcBad = true }, func(p *pkt) { p.dataOff = 6 }, func(p *pkt) { p.dataOff = 15 },
			func(p *pkt) { p.dataOff = 1 }, func(p *pkt) { p.dataOff, p.payload = 15, 0 }, func(p *pkt) { p.src, p.dst = 0xff, 0 },
			func(p *pkt) { p.dmac = [6]byte{1, 2, 3, 4, 5, 6} }, func(p *pkt) { p.qp, p.psn = 0xffffff, 0xffffff },
			func(p *pkt) { p.pkey, p.qp, p.psn, p.op = 0, 0, 0, 0 }, func(p *pkt) { p.sport, p.dport = 4791, 1 },
		)
	}
	for i := range all {
		all[i].seed = uint64(i)
	}
	return all
}

func parseByHand(r *rig) {
	var frames [][]byte
	for _, p := range append(odd(), shorter()...) {
		f := p.build()
		frames = append(frames, f)
		if len(f) > 77 {
			frames = append(frames, f[:77])
		}
	}
	r.parse(frames)
}

// shorter are packets with 70 B of payload whose lengths, of IP or of UDP, are about what their headers take, or 0.
func shorter() (all []pkt) {
	for _, base := range []pkt{rocePacket(70), udpPacket(70), {l3: 4, proto: protoTCP, payload: 70}} {
		for _, less := range []int{78, 79, 90, 91, 94, 95, 98, 110, 114} {
			for _, options := range []int{0, 40} {
				p := base
				p.ipLen, p.options = -less, options
				all = append(all, p)
			}
		}
		for _, less := range []int{69, 70, 71, 78, 86, 87, 94} {
			p := base
			p.udpLen, p.udpCsum = -less, csumRight
			all = append(all, p)
		}
	}
	return all
}

// roceOpcodes has every opcode, with all of its extension headers there, and one byte short of them.
func roceOpcodes(r *rig) {
	var frames [][]byte
	for op := range 256 {
		p := rocePacket(40)
		p.op, p.seed, p.l3 = uint8(op), uint64(op), 4+op%2*2
		frames = append(frames, p.build())
		end := p.l3Off() + p.l3Len() + 20 + extOf[uint8(op)]
		for _, n := range []int{end, end - 1} {
			if n >= nicspec.FrameMin {
				frames = append(frames, p.build()[:n])
			}
		}
	}
	r.parse(frames)
}

// cutShort has frames that end anywhere in their headers, from the shortest on.
func cutShort(r *rig) {
	var frames [][]byte
	long := pkt{l3: 4, options: 40, proto: protoUDP, dport: nicspec.ResetRocePort, roce: true, op: 0x14, payload: 60,
		tags: []uint32{tpidS<<16 | 1, tpidC<<16 | 2}}
	tcp := pkt{l3: 4, options: 40, proto: protoTCP, dataOff: 15, payload: 60, tags: []uint32{tpidS<<16 | 1, tpidC<<16 | 2}}
	six := pkt{l3: 6, proto: protoUDP, dport: nicspec.ResetRocePort, roce: true, op: 0x13, payload: 60, tags: []uint32{tpidC<<16 | 1, tpidC<<16 | 2}}
	plain := rocePacket(60)
	plain.op = 0x0b
	tcp6 := pkt{l3: 6, proto: protoTCP, dataOff: 9, payload: 60}
	bare := pkt{l3: 0, ether: typeIPv6, payload: 100}
	for _, p := range []pkt{long, tcp, six, plain, tcp6, bare} {
		f := p.build()
		for n := nicspec.FrameMin; n <= min(len(f), 160); n++ {
			frames = append(frames, f[:n])
		}
	}
	r.parse(frames)
}

func rocePorts(r *rig) {
	for _, p := range []uint16{4791, 0, 0xffff, 4790} {
		r.quiet()
		r.write(nicspec.RegRocePort, uint32(p)|0xabcd_0000)
		r.roce = p
		r.synced()
		var frames [][]byte
		for _, d := range []uint16{4791, 0, 0xffff, 4790, 0xb712} {
			k := rocePacket(30)
			k.dport, k.seed = d, uint64(d)
			frames = append(frames, k.build())
		}
		r.parse(frames)
	}
}

// damaged has packets of every kind with some bytes changed, cut and padded at random.
func damaged(r *rig) {
	rng := rand.New(rand.NewPCG(77, 1))
	kinds := odd()
	var frames [][]byte
	for i := range 2000 {
		p := kinds[rng.IntN(len(kinds))]
		p.seed = uint64(i)
		f := p.build()
		for range rng.IntN(3) {
			f[rng.IntN(min(len(f), 110))] = byte(rng.Uint32())
		}
		if rng.IntN(3) == 0 {
			f[rng.IntN(len(f))] ^= 1 << rng.IntN(8)
		}
		switch rng.IntN(4) {
		case 0:
			f = f[:max(nicspec.FrameMin, rng.IntN(len(f)))]
		case 1:
			f = append(f, pattern(rng.IntN(200), uint64(i))...)
		}
		frames = append(frames, f)
	}
	r.parse(frames)
}

// edgeSums searches packets whose sums are the numbers that ones' complement has twice.
func edgeSums(r *rig) {
	var frames [][]byte
	for i := range 4 {
		p := udpPacket(64 + i%2)
		p.l3 = 4 + i/2*2
		p.seed = uint64(i)
		f := p.build()
		l4 := p.l3Off() + p.l3Len()
		// Let two bytes of the payload take up the checksum: what is left as the field is 0xffff for a sum of zero.
		sum := be.Uint16(f[l4+6:])
		be.PutUint16(f[l4+8:], addOnes(be.Uint16(f[l4+8:]), sum))
		be.PutUint16(f[l4+6:], 0xffff)
		frames = append(frames, f)
		g := append([]byte(nil), f...)
		be.PutUint16(g[l4+6:], 0) // not checked
		frames = append(frames, g)
		h := append([]byte(nil), f...)
		be.PutUint16(h[l4+6:], 1)
		frames = append(frames, h)
		if p.l3 == 4 { // likewise in the header: the identification takes the sum up
			for _, field := range []uint16{0, 0xffff} {
				k := append([]byte(nil), f...)
				be.PutUint16(k[18:], addOnes(be.Uint16(k[18:]), be.Uint16(k[24:])))
				be.PutUint16(k[24:], field)
				frames = append(frames, k)
			}
		}
	}
	r.parse(frames)
}

// addOnes adds in ones' complement.
func addOnes(a, b uint16) uint16 {
	s := uint32(a) + uint32(b)
	return uint16(s + s>>16)
}

// icrcCoverage flips each bit of the headers in turn: those that routers may change make no difference.
func icrcCoverage(r *rig) {
	for _, l3 := range []int{4, 6} {
		p := rocePacket(9)
		p.l3, p.tags = l3, []uint32{tpidC<<16 | 5}
		f := p.build()
		var frames [][]byte
		for bit := 14 * 8; bit < len(f)*8; bit++ {
			g := append([]byte(nil), f...)
			g[bit/8] ^= 1 << (bit % 8)
			frames = append(frames, g)
		}
		r.parse(frames)
	}
}
