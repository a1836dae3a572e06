package generate

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/traffic/craft"
)

// play draws some frames, most of them for an enabled queue.
func (g *generator) play() *program.Play {
	p := &program.Play{Port: g.intN(g.Sizes.Ports)}
	for range 1 + g.intN(8) {
		if g.Sizes.Has(nicspec.PartPause) && g.maybe(6) {
			p.Frames = append(p.Frames, g.pauseFrame())
			continue
		}
		p.Frames = append(p.Frames, g.frame(false))
	}
	return p
}

// dmac returns the destination address that rules steer to the i-th of the receive queues in use.
func dmac(i int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(i)} }

// frame draws any frame. A frame to be sent is never too long.
func (g *generator) frame(toSend bool) program.Frame {
	if g.maybe(7) {
		if f, ok := g.mutant(); ok {
			return f
		}
	}
	var f program.Frame
	f.DMAC = dmac(g.intN(len(g.rx) + 1))
	f.Src, f.Dst, f.TTL, f.Tos = uint8(g.intN(4)), uint8(g.intN(4)), 64, uint8(g.rng.Uint32())
	f.Seed = uint64(g.rng.Uint32())
	for range pick(g, 0, 0, 0, 1, 1, 2, 2, 3) {
		f.Tags = append(f.Tags, pick(g, uint32(craft.TpidC), craft.TpidS)<<16|g.rng.Uint32()&0xffff)
	}
	g.network(&f)
	g.contradict(&f)
	if f.Proto == craft.ProtoUDP && f.L3 != 0 && g.maybe(7) {
		g.onesChecksum(&f, toSend)
	}
	if g.Sizes.Has(nicspec.PartCrc32c) && g.maybe(50) {
		f.Digest = craft.Sum(1 + g.intN(2))
		if f.Roce {
			f.Op = 4 // an opcode without extended headers, so that the frame has none
		}
	}
	bare := len(f.Build())
	want := g.length(toSend)
	switch {
	case want >= bare && g.maybe(85):
		f.Payload = want - bare
	case want >= bare:
		f.Trailer = want - bare
	default:
		f.Len = want
	}
	for g.maybe(4) {
		f.Flip = append(f.Flip, g.intN(8*min(128, max(want, 1))))
	}
	return f
}

// length draws any length, often at the limits of the contract.
func (g *generator) length(toSend bool) int {
	n := pick(g, 60, 61, 64, 60+g.intN(70), 60+g.intN(70), 128+g.intN(130), 256+g.intN(260), 512+g.intN(1000))
	switch {
	case g.heavy && g.maybe(20) || g.maybe(2):
		n = pick(g, 1518, 1519+g.intN(2500), 4096+g.intN(5000), nicspec.FrameMax-1, nicspec.FrameMax)
	case toSend && g.maybe(8):
		n = 1 + g.intN(60)
	case !toSend && g.maybe(4):
		n = pick(g, 1, 14, 20+g.intN(39), 59)
	case !toSend && g.maybe(1):
		n = pick(g, nicspec.FrameMax+1+g.intN(200), 16<<10+1+g.intN(4000))
	}
	return n
}

// network draws the layers above Ethernet.
func (g *generator) network(f *program.Frame) {
	if g.maybe(8) {
		return
	}
	f.L3 = pick(g, 4, 4, 6)
	if f.L3 == 4 && g.maybe(30) {
		f.Options = 4 * g.intN(11)
	}
	f.SPort, f.DPort = uint16(g.rng.Uint32()), uint16(g.intN(4)+1000)
	switch g.intN(10) {
	case 0:
		f.Proto = pick(g, uint8(1), 47, 50, 58, 0)
	case 1, 2:
		f.Proto, f.DataOff = craft.ProtoTCP, g.intN(16)
	case 3, 4, 5:
		f.Proto, f.UDPSum = craft.ProtoUDP, craft.Sum(g.intN(2))
		if g.maybe(10) {
			f.DPort = nicspec.ResetRocePort
		}
	default:
		f.Proto, f.UDPSum, f.Roce, f.DPort = craft.ProtoUDP, craft.Sum(g.intN(2)), true, nicspec.ResetRocePort
		f.Op = g.opcode()
		f.Flags, f.PKey, f.QP, f.PSN, f.AckReq = uint8(g.rng.Uint32()), uint16(g.rng.Uint32()), uint32(g.intN(4)),
			g.rng.Uint32(), g.maybe(50)
	}
}

func (g *generator) opcode() uint8 {
	if g.maybe(60) {
		return pick(g, coverage.Extended...)
	}
	return uint8(g.rng.Uint32())
}

// onesChecksum gives a frame a UDP checksum that computes to zero [H9] [T8]. In a received frame it is right, or wrong
// by one bit of the source port; in a sent frame the offload computes it.
func (g *generator) onesChecksum(f *program.Frame, toSend bool) {
	f.UDPSum, f.UDPLen = craft.SumOnes, 0
	l4 := f.L3Off() + f.L3Len()
	switch {
	case toSend:
		f.Flip = append(f.Flip, 8*(l4+6))
	case g.maybe(25):
		f.Flip = append(f.Flip, 8*l4)
	}
}

// contradict makes headers of a frame contradict its contents.
func (g *generator) contradict(f *program.Frame) {
	if f.L3 == 0 {
		if g.maybe(30) {
			f.Ether = pick(g, uint16(craft.TypeIPv4), craft.TypeIPv6, nicspec.MacControlType, 0x0806, craft.TpidC)
		}
		return
	}
	f.IPBad = g.maybe(12)
	f.ICRCBad = g.maybe(20)
	if g.maybe(12) {
		f.UDPSum = craft.SumWrong
	}
	if f.L3 == 4 && g.maybe(10) {
		f.Frag = pick(g, uint16(0x2000), 0x2000, 0x4000, 1, 0x2005, 0x1fff)
	}
	if g.maybe(8) {
		f.IPLen = pick(g, -1, 1, -40, 1000, -f.L3Len()-8)
	}
	if f.Proto == craft.ProtoUDP && g.maybe(8) {
		f.UDPLen = pick(g, -1, 1, -8, 1000, 30000)
	}
	switch g.intN(40) {
	case 0:
		f.Version = uint8(1 + g.intN(15))
	case 1:
		f.IHL = 1 + g.intN(15)
	}
}
