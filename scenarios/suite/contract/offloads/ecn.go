package offloads

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/receive"
)

// ECNChecks check ECN in both directions [E].
var ECNChecks = []kit.Check{
	{Name: "ecn/receive, every value of the bits", Rules: "E1 R10", Stalls: kit.Stalled, Run: markedIn},
	{Name: "ecn/receive, frames by hand", Rules: "E1 H8", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { r.RxMod = func(f *nicspec.RxqEntryFields) { f.EcnMode = 1 }; receive.ParseByHand(r) }},
	{Name: "ecn/receive, frames damaged at random", Rules: "E1", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { r.RxMod = func(f *nicspec.RxqEntryFields) { f.EcnMode = 1 }; receive.Damaged(r) }},
	{Name: "ecn/receive, checksums", Rules: "E1", Stalls: kit.Calm, Run: markedSums},
	{Name: "ecn/transmit, every value of the bits", Rules: "E2 T5", Stalls: kit.Stalled, Run: markedOut},
	{Name: "ecn/transmit, every combination of offloads", Rules: "E2 T7 T8", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { ecnOut(r, 3); offloadKinds(r) }},
	{Name: "ecn/transmit, offsets", Rules: "E2 T7", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { ecnOut(r, 1); offloadOffsets(r) }},
	{Name: "ecn/transmit, lengths that do not fit", Rules: "E2 T7", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { ecnOut(r, 2); offloadLengths(r) }},
	{Name: "ecn/transmit, the first 128 bytes", Rules: "E2 T7", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { ecnOut(r, 3); offloadReach(r) }},
	{Name: "ecn/transmit, headers that are none", Rules: "E2", Stalls: kit.Calm, Run: unmarkedOut},
	{Name: "ecn/transmit, the mode of the enabling", Rules: "E2 T11", Stalls: kit.Stalled, Run: markedQueues},
}

// ECNCrcChecks check that digests cover marked frames.
var ECNCrcChecks = []kit.Check{{Name: "ecn/transmit, with digests", Rules: "E2 X1 X2", Stalls: kit.Calm,
	Run: func(r *kit.Rig) { ecnOut(r, 3); digestsOut(r) }}}

func ecnOut(r *kit.Rig, mode uint8) { r.TxMod = func(f *nicspec.TxqEntryFields) { f.EcnMode = mode } }

func markedIn(r *kit.Rig) {
	x := r.OpenRx(1, 8, func(f *nicspec.RxqEntryFields) { f.EcnMode, f.SplitMode = 1, nicspec.SplitModeHeaders })
	y := r.OpenRx(2, 8, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 16 })
	// Marking changes the ToS byte and the header checksum; the split point of the frame lies between these bytes.
	z := r.OpenRx(3, 8, func(f *nicspec.RxqEntryFields) {
		f.EcnMode, f.SplitMode, f.SplitLen = 1,
			nicspec.SplitModeFixed, 24
	})
	for _, x := range []*kit.RxRing{x, y, z} {
		r.Post(x, 200)
	}
	r.ByDest(1, 2, 3)
	r.ReceiveAll(1)
	for _, l3 := range []int{4, 6, 0} {
		for tags := range 3 {
			for ecn := range uint8(4) {
				p := kit.RocePacket(60)
				p.L3, p.Tos, p.UDPCsum, p.IPBad = l3, 0xb4|ecn, kit.CsumRight, tags == 2 && ecn > 1
				p.Options = 4 * tags
				if l3 != 4 {
					p.Options = 0
				}
				for k := range tags {
					p.Tags = append(p.Tags, kit.TpidC<<16|uint32(k))
				}
				for q, x := range []*kit.RxRing{x, y, z} {
					first := r.Ordinal()
					r.Play(kit.FrameTo(q+1, p.Build()))
					e := r.Delivered(x, first, uint16(q))
					r.Post(x, 1)
					if l3 == 4 {
						require.Equal(r.T, p.Tos, e.IpTos(), "the completion entry reports the frame as it came")
					}
				}
			}
		}
	}
}

// markedSums delivers packets whose header checksums are edge cases of ones' complement.
func markedSums(r *kit.Rig) {
	r.RxMod = func(f *nicspec.RxqEntryFields) { f.EcnMode = 1 }
	var frames [][]byte
	for ecn := range uint8(3) {
		for _, c := range []uint16{0, 1, 2, 3, 0x7fff, 0x8000, 0xfffc, 0xfffd, 0xfffe, 0xffff} {
			p := kit.UDPPacket(40)
			p.Tos = 0xfc | ecn
			f := p.Build()
			kit.BigEndian.PutUint16(f[24:], c)
			frames = append(frames, f)
		}
		for id := range 200 { // packets with a correct checksum
			p := kit.UDPPacket(40)
			p.Tos, p.Seed = ecn, uint64(id*331)
			frames = append(frames, p.Build())
		}
	}
	receive.Parse(r, frames)
}

// markedOut sends frames with all values of the ECN bits from queues of every ecn_mode.
func markedOut(r *kit.Rig) {
	_, w := r.TxSetup(9, 2)
	rng := rand.New(rand.NewPCG(81, 9))
	for mode := range uint8(4) {
		ecnOut(r, mode)
		x := r.OpenTx(int(mode)+1, 5)
		var all []nicspec.WqeFields
		for _, l3 := range []int{4, 6, 0} {
			for ecn := range uint8(4) {
				for k := range flagKinds {
					p := kit.RocePacket(30 + k*9)
					p.L3, p.Tos, p.UDPCsum = l3, 0x58|ecn, kit.CsumRight
					f := p.Build()
					e := r.Cut(w, f, min(rng.IntN(17), len(f)-3), 1+rng.IntN(2), rng)
					e.L3Off, e.L4Off, e.FPad = uint8(p.L3Off()), uint8(p.L3Off()+p.L3Len()), true
					flags(&e, k)
					all = append(all, e)
				}
			}
		}
		r.Transmit(x, all...)
	}
	r.NoFrames()
}

// unmarkedOut sends entries whose l3_off points at no IP header, or at an IP header that its EtherType does not
// precede.
func unmarkedOut(r *kit.Rig) {
	_, w := r.TxSetup(9, 2)
	ecnOut(r, 3)
	x := r.OpenTx(1, 6)
	rng := rand.New(rand.NewPCG(82, 9))
	var all []nicspec.WqeFields
	for i, p := range kit.EveryKind() {
		p.Tos = uint8(i)
		for _, l3 := range []int{0, 2, 12, 13, 14, 15, 18, 22, 34} {
			f := p.Build()
			e := r.Cut(w, f, 0, 1, rng)
			e.L3Off, e.FPad = uint8(l3), true
			all = append(all, e)
		}
	}
	for _, l3 := range []int{4, 6} { // headers that end near byte 128, and near the frame's end
		for at := 60; at < 120; at++ {
			f := kit.Pattern(at+60, uint64(at))
			kit.BigEndian.PutUint16(f[at-2:], map[int]uint16{4: kit.TypeIPv4, 6: kit.TypeIPv6}[l3])
			f[at] = byte(l3)<<4 | f[at]&15
			for _, n := range []int{len(f), at + 19, at + 20, at + 21, at + 39, at + 40} {
				e := r.Cut(w, f[:n], at%17, 1, rng)
				e.L3Off = uint8(at)
				all = append(all, e)
			}
		}
	}
	r.Transmit(x, all...)
}

// markedQueues changes a queue's mode by disabling and enabling it, beside queues with other modes.
func markedQueues(r *kit.Rig) {
	_, w := r.TxSetup(9, 2)
	for i := range 8 {
		ecnOut(r, uint8(i%4))
		x := r.OpenTx(5, 3)
		ecnOut(r, uint8(3-i%4))
		y := r.OpenTx(6, 3)
		var a, b []nicspec.WqeFields
		for k := range 6 {
			p := kit.UDPPacket(50 + k)
			p.Tos = uint8(k)
			e := r.Cut(w, p.Build(), 0, 2, rand.New(rand.NewPCG(uint64(i), uint64(k))))
			e.L3Off = uint8(p.L3Off())
			a, b = append(a, e), append(b, e)
		}
		pa, pb := r.Enqueue(x, a...), r.Enqueue(y, b...)
		r.RingDoorbell(&x.Ring)
		r.RingDoorbell(&y.Ring)
		r.Ended(x, 0, pa)
		r.Ended(y, 0, pb)
		r.Disable(nicspec.TableTxq, 5)
		r.Disable(nicspec.TableTxq, 6)
	}
}
