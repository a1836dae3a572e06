package kit

import (
	"nictwin/models/nic/nicspec"
)

// FrameOf returns a frame of n bytes. Frames of different lengths have different headers.
func FrameOf(n int) []byte {
	p := RocePacket(0)
	if n%3 == 1 {
		p = UDPPacket(0)
	}
	p.Tags = [][]uint32{nil, {TpidC<<16 | 7}, {TpidS<<16 | 8, TpidC<<16 | 9}}[n%7%3]
	p.L3 = []int{4, 6}[n%2]
	bare := len(p.Build())
	if n < bare {
		return Blob(n, uint64(n))
	}
	p.Payload, p.Seed = n-bare, uint64(n)
	return p.Build()
}

// FrameTo sets a frame's destination address to the one that ByDest steers to queue q.
func FrameTo(q int, frame []byte) []byte {
	frame[5] = uint8(q)
	return frame
}

// ByDest writes one rule per queue: frames go to the queue that the last byte of their destination
// address names.
func (r *Rig) ByDest(queues ...int) {
	r.T.Helper()
	for i, q := range queues {
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(q)}
		f.Value[13], f.Mask[13] = uint8(q), 0xff
		r.Rule(i, f)
	}
}

// Rule writes a rule.
func (r *Rig) Rule(index int, f nicspec.RuleEntryFields) {
	r.T.Helper()
	r.Commit(nicspec.TableRule, index, Encode(&f, nicspec.RuleEntrySize))
}

// Lengths are frame lengths at and around every limit: the shortest and longest frames, whole beats, full payloads of
// TLPs.
var Lengths = []int{60, 61, 62, 63, 64, 65, 66, 67, 68, 127, 128, 129, 191, 192, 193, 255, 256, 257, 511, 512, 513,
	1023, 1024,
	1025, 1499, 1500, 1514, 4096, 4097, 9215, 9216}

// EveryKind returns packets of every kind that the contract names.
func EveryKind() []Packet {
	var all []Packet
	vlans := [][]uint32{nil, {TpidC<<16 | 0xe123}, {TpidS<<16 | 0x0fff}, {TpidS<<16 | 1, TpidC<<16 | 2},
		{TpidC<<16 | 3, TpidS<<16 | 4},
		{TpidC<<16 | 5, TpidC<<16 | 6, TpidC<<16 | 7}, {0x9100<<16 | 8}}
	for _, tags := range vlans {
		for _, l3 := range []int{0, 4, 6} {
			for _, proto := range []uint8{ProtoUDP, ProtoTCP, 1, 0, 58} {
				all = append(all, Packet{Tags: tags, L3: l3, Proto: proto, Payload: 90, Tos: 0xb7, Ttl: 1, Sport: 7,
					Dport: 4792, UDPCsum: CsumRight})
			}
			p := RocePacket(80)
			p.Tags, p.L3, p.Tos, p.ackReq, p.BthFlags = tags, l3, 0x5a, true, 0xb3
			all = append(all, p)
		}
	}
	vary := func(base Packet, mods ...func(*Packet)) {
		for _, l3 := range []int{4, 6} {
			for _, mod := range mods {
				p := base
				p.L3 = l3
				mod(&p)
				all = append(all, p)
			}
		}
	}
	for _, base := range []Packet{RocePacket(70), UDPPacket(70), {L3: 4, Proto: ProtoTCP, Payload: 70}} {
		vary(base,
			func(p *Packet) { p.Options = 4 }, func(p *Packet) { p.Options = 40 }, func(p *Packet) { p.ihl = 4 },
			func(p *Packet) { p.ihl = 6 },
			func(p *Packet) { p.ihl = 15 }, func(p *Packet) { p.ihl = 3 }, func(p *Packet) { p.version = 5 },
			func(p *Packet) { p.version = 15 },
			func(p *Packet) { p.Frag = 0x2000 }, func(p *Packet) { p.Frag = 1 }, func(p *Packet) { p.Frag = 0x3fff },
			func(p *Packet) { p.Frag = 0x4000 },
			func(p *Packet) { p.Frag = 0x8000 }, func(p *Packet) { p.Frag = 0x1000 }, func(p *Packet) { p.IPLen = 1 },
			func(p *Packet) { p.IPLen = -1 },
			func(p *Packet) { p.IPLen = -200 }, func(p *Packet) { p.IPLen = 0x7000 },
			func(p *Packet) { p.IPBad = true },
			func(p *Packet) { p.Trailer = 9 }, func(p *Packet) { p.Trailer, p.IPLen = 9, 9 },
			func(p *Packet) { p.Trailer, p.IPLen = 9, 10 },
			func(p *Packet) { p.UDPCsum = CsumRight }, func(p *Packet) { p.UDPCsum = CsumWrong },
			func(p *Packet) { p.UDPCsum = CsumZero },
			func(p *Packet) { p.UDPLen = 1 }, func(p *Packet) { p.UDPLen, p.Trailer = 1, 1 },
			func(p *Packet) { p.UDPLen, p.Trailer = 2, 1 },
			func(p *Packet) { p.UDPLen, p.UDPCsum = -1, CsumRight },
			func(p *Packet) { p.UDPLen, p.UDPCsum = -66, CsumRight },
			func(p *Packet) { p.UDPLen = 0x4000 }, func(p *Packet) { p.IcrcBad = true },
			func(p *Packet) { p.DataOff = 6 }, func(p *Packet) { p.DataOff = 15 },
			func(p *Packet) { p.DataOff = 1 }, func(p *Packet) { p.DataOff, p.Payload = 15, 0 },
			func(p *Packet) { p.Src, p.Dst = 0xff, 0 },
			func(p *Packet) { p.Dmac = [6]byte{1, 2, 3, 4, 5, 6} },
			func(p *Packet) { p.qp, p.psn = 0xffffff, 0xffffff },
			func(p *Packet) { p.pkey, p.qp, p.psn, p.Op = 0, 0, 0, 0 }, func(p *Packet) { p.Sport, p.Dport = 4791, 1 },
		)
	}
	for i := range all {
		all[i].Seed = uint64(i)
	}
	return all
}

// AddOnes adds two numbers in ones' complement.
func AddOnes(a, b uint16) uint16 {
	s := uint32(a) + uint32(b)
	return uint16(s + s>>16)
}
