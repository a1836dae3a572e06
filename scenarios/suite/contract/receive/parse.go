package receive

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// ParseChecks check what completion entries report about headers.
var ParseChecks = []kit.Check{
	{Name: "parse/frames by hand", Rules: "H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11", Stalls: kit.Calm, Run: ParseByHand},
	{Name: "parse/RoCE opcodes", Rules: "H7", Stalls: kit.Calm, Run: RoceOpcodes},
	{Name: "parse/cut short", Rules: "H1 H2 H3 H4 H6 H7", Stalls: kit.Calm, Run: CutShort},
	{Name: "parse/ROCE_PORT", Rules: "H6 G8", Stalls: kit.Calm, Run: rocePorts},
	{Name: "parse/damaged at random", Rules: "H1 H2 H3 H4 H5 H6 H7 H8 H9 H10", Stalls: kit.Calm, Run: Damaged},
	{Name: "parse/checksums that are all ones or zero", Rules: "H8 H9", Stalls: kit.Calm, Run: edgeSums},
	{Name: "parse/ICRC coverage", Rules: "H10", Stalls: kit.Calm, Run: icrcCoverage},
}

// Parse delivers frames, 200 at a time, and compares their completion entries with the rules of section 5 of
// docs/nic.md.
func Parse(r *kit.Rig, frames [][]byte) {
	r.T.Helper()
	const lap = 200
	x := r.Rx[0]
	if x == nil {
		x = r.OpenRx(0, 8, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
		r.ReceiveAll(0)
	}
	frames = slices.DeleteFunc(frames, func(f []byte) bool { return len(f) < nicspec.FrameMin })
	for len(frames) > 0 {
		n := min(lap, len(frames))
		first := r.Ordinal()
		r.Post(x, n)
		r.Play(frames[:n]...)
		for i := range n {
			r.Delivered(x, first+i, nicspec.RuleNone)
		}
		frames = frames[n:]
	}
}

func ParseByHand(r *kit.Rig) {
	var frames [][]byte
	for _, p := range append(kit.EveryKind(), shorter()...) {
		f := p.Build()
		frames = append(frames, f)
		if len(f) > 77 {
			frames = append(frames, f[:77])
		}
	}
	Parse(r, frames)
}

// shorter returns packets with 70 B of payload whose IP or UDP length is near the size of the headers, or 0.
func shorter() (all []kit.Packet) {
	for _, base := range []kit.Packet{kit.RocePacket(70), kit.UDPPacket(70),
		{L3: 4, Proto: kit.ProtoTCP, Payload: 70}} {
		for _, less := range []int{78, 79, 90, 91, 94, 95, 98, 110, 114} {
			for _, options := range []int{0, 40} {
				p := base
				p.IPLen, p.Options = -less, options
				all = append(all, p)
			}
		}
		for _, less := range []int{69, 70, 71, 78, 86, 87, 94} {
			p := base
			p.UDPLen, p.UDPCsum = -less, kit.CsumRight
			all = append(all, p)
		}
	}
	return all
}

// RoceOpcodes plays every opcode, with complete extension headers and with one byte less.
func RoceOpcodes(r *kit.Rig) {
	var frames [][]byte
	for op := range 256 {
		p := kit.RocePacket(40)
		p.Op, p.Seed, p.L3 = uint8(op), uint64(op), 4+op%2*2
		frames = append(frames, p.Build())
		end := p.L3Off() + p.L3Len() + 20 + kit.ExtOf[uint8(op)]
		for _, n := range []int{end, end - 1} {
			if n >= nicspec.FrameMin {
				frames = append(frames, p.Build()[:n])
			}
		}
	}
	Parse(r, frames)
}

// CutShort plays frames that end at every offset within their headers.
func CutShort(r *kit.Rig) {
	var frames [][]byte
	long := kit.Packet{L3: 4, Options: 40, Proto: kit.ProtoUDP, Dport: nicspec.ResetRocePort, Roce: true, Op: 0x14,
		Payload: 60,
		Tags:    []uint32{kit.TpidS<<16 | 1, kit.TpidC<<16 | 2}}
	tcp := kit.Packet{L3: 4, Options: 40, Proto: kit.ProtoTCP, DataOff: 15, Payload: 60,
		Tags: []uint32{kit.TpidS<<16 | 1, kit.TpidC<<16 | 2}}
	six := kit.Packet{L3: 6, Proto: kit.ProtoUDP, Dport: nicspec.ResetRocePort, Roce: true, Op: 0x13, Payload: 60,
		Tags: []uint32{kit.TpidC<<16 | 1, kit.TpidC<<16 | 2}}
	plain := kit.RocePacket(60)
	plain.Op = 0x0b
	tcp6 := kit.Packet{L3: 6, Proto: kit.ProtoTCP, DataOff: 9, Payload: 60}
	bare := kit.Packet{L3: 0, Ether: kit.TypeIPv6, Payload: 100}
	for _, p := range []kit.Packet{long, tcp, six, plain, tcp6, bare} {
		f := p.Build()
		for n := nicspec.FrameMin; n <= min(len(f), 160); n++ {
			frames = append(frames, f[:n])
		}
	}
	Parse(r, frames)
}

func rocePorts(r *kit.Rig) {
	for _, p := range []uint16{4791, 0, 0xffff, 4790} {
		r.Quiet()
		r.Write(nicspec.RegRocePort, uint32(p)|0xabcd_0000)
		r.Roce = p
		r.Synced()
		var frames [][]byte
		for _, d := range []uint16{4791, 0, 0xffff, 4790, 0xb712} {
			k := kit.RocePacket(30)
			k.Dport, k.Seed = d, uint64(d)
			frames = append(frames, k.Build())
		}
		Parse(r, frames)
	}
}

// Damaged plays packets of every kind that are changed in some bytes, cut and padded at random.
func Damaged(r *kit.Rig) {
	rng := rand.New(rand.NewPCG(77, 1))
	kinds := kit.EveryKind()
	var frames [][]byte
	for i := range 2000 {
		p := kinds[rng.IntN(len(kinds))]
		p.Seed = uint64(i)
		f := p.Build()
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
			f = append(f, kit.Pattern(rng.IntN(200), uint64(i))...)
		}
		frames = append(frames, f)
	}
	Parse(r, frames)
}

// edgeSums plays packets whose checksums are the two representations of zero in ones' complement.
func edgeSums(r *kit.Rig) {
	var frames [][]byte
	for i := range 4 {
		p := kit.UDPPacket(64 + i%2)
		p.L3 = 4 + i/2*2
		p.Seed = uint64(i)
		f := p.Build()
		l4 := p.L3Off() + p.L3Len()
		// The old checksum is added to two bytes of the payload. The correct checksum is then 0, which UDP sends as
		// 0xffff.
		sum := kit.BigEndian.Uint16(f[l4+6:])
		kit.BigEndian.PutUint16(f[l4+8:], kit.AddOnes(kit.BigEndian.Uint16(f[l4+8:]), sum))
		kit.BigEndian.PutUint16(f[l4+6:], 0xffff)
		frames = append(frames, f)
		g := append([]byte(nil), f...)
		kit.BigEndian.PutUint16(g[l4+6:], 0) // checksum 0: not checked
		frames = append(frames, g)
		h := append([]byte(nil), f...)
		kit.BigEndian.PutUint16(h[l4+6:], 1)
		frames = append(frames, h)
		if p.L3 == 4 { // add the checksum to the identification: then both 0 and 0xffff are right checksums
			for _, field := range []uint16{0, 0xffff} {
				k := append([]byte(nil), f...)
				kit.BigEndian.PutUint16(k[18:], kit.AddOnes(kit.BigEndian.Uint16(k[18:]), kit.BigEndian.Uint16(k[24:])))
				kit.BigEndian.PutUint16(k[24:], field)
				frames = append(frames, k)
			}
		}
	}
	Parse(r, frames)
}

// icrcCoverage flips each bit of the headers in turn. Bits that routers may change must not affect the verdict of the
// ICRC.
func icrcCoverage(r *kit.Rig) {
	for _, l3 := range []int{4, 6} {
		p := kit.RocePacket(9)
		p.L3, p.Tags = l3, []uint32{kit.TpidC<<16 | 5}
		f := p.Build()
		var frames [][]byte
		for bit := 14 * 8; bit < len(f)*8; bit++ {
			g := append([]byte(nil), f...)
			g[bit/8] ^= 1 << (bit % 8)
			frames = append(frames, g)
		}
		Parse(r, frames)
	}
}
