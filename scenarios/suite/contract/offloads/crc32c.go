package offloads

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/receive"
)

// CRC32CChecks check CRC-32C in both directions [X].
var CRC32CChecks = []kit.Check{
	{Name: "crc32c/receive, frames by hand", Rules: "X3 X4", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { crcMode(r, nicspec.CrcModeReport); receive.ParseByHand(r) }},
	{Name: "crc32c/receive, frames by hand, checked", Rules: "X3 X4", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { crcMode(r, nicspec.CrcModeCheck); receive.ParseByHand(r) }},
	{Name: "crc32c/receive, frames cut short", Rules: "X3 X4", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { crcMode(r, nicspec.CrcModeCheck); receive.CutShort(r) }},
	{Name: "crc32c/receive, frames damaged at random", Rules: "X3 X4", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { crcMode(r, nicspec.CrcModeCheck); receive.Damaged(r) }},
	{Name: "crc32c/receive, RoCE opcodes", Rules: "X3 H7", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { crcMode(r, nicspec.CrcModeReport); receive.RoceOpcodes(r) }},
	{Name: "crc32c/receive, digests", Rules: "X3 X4", Stalls: kit.Stalled, Run: digestsIn},
	{Name: "crc32c/receive, lengths", Rules: "X3 X4", Stalls: kit.Calm, Run: digestLengths},
	{Name: "crc32c/receive, drops", Rules: "X5 R4 R7 R8", Stalls: kit.Stalled, Run: digestDrops},
	{Name: "crc32c/transmit, digests after and before their data", Rules: "X1 X2 T8", Stalls: kit.Stalled,
		Run: digestsOut},
	{Name: "crc32c/transmit, where digests may stand", Rules: "X1", Stalls: kit.Calm, Run: digestPlaces},
	{Name: "crc32c/transmit, entries at random", Rules: "X1 X2 T3 T7 T8", Stalls: kit.Stalled, Run: digestsAtRandom},
	{Name: "crc32c/transmit, the longest frames", Rules: "X1 X2", Stalls: kit.Calm, Run: longDigests},
}

// CRCAccountChecks combine CRC-32C with accounts.
var CRCAccountChecks = []kit.Check{{Name: "crc32c/a frame that is dropped draws no credit", Rules: "X5 A3",
	Stalls: kit.Stalled, Run: digestCredit}}

// crcMode sets the CRC mode of receive queues opened later.
func crcMode(r *kit.Rig, m nicspec.CrcMode) {
	r.RxMod = func(f *nicspec.RxqEntryFields) { f.CrcMode = m }
}

// digested returns a packet whose payload ends with its CRC-32C, which is right or wrong.
func digested(p kit.Packet, n int, right bool) []byte {
	p.Payload, p.Digest = n, kit.CsumRight
	if !right {
		p.Digest = kit.CsumWrong
	}
	return p.Build()
}

// digestKinds returns packets that may carry a digest.
func digestKinds() []kit.Packet {
	tcp := kit.Packet{L3: 4, Proto: kit.ProtoTCP, Payload: 50, DataOff: 7}
	udp6 := kit.UDPPacket(0)
	udp6.L3 = 6
	udp6.Tags = []uint32{kit.TpidC<<16 | 3}
	return []kit.Packet{kit.UDPPacket(0), kit.RocePacket(0), tcp, udp6, {L3: 6, Proto: 99},
		{L3: 4, Proto: 50, Options: 12}, {}}
}

func digestsIn(r *kit.Rig) {
	for q, mode := range []nicspec.CrcMode{nicspec.CrcModeCheck, nicspec.CrcModeReport, nicspec.CrcModeOff} {
		x := r.OpenRx(q, 8, func(f *nicspec.RxqEntryFields) { f.CrcMode, f.SplitMode = mode, nicspec.SplitModeHeaders })
		r.Post(x, 200)
		r.ReceiveAll(q)
		for i, p := range digestKinds() {
			for _, n := range []int{5, 6, 7, 8, 40, 63, 64, 65, 100, 700} {
				p.Seed = uint64(n + i)
				if (i+n)%3 == 0 && p.L3 != 0 {
					p.Trailer = 5 + n%20 // Ethernet padding, which is no part of the payload
				}
				for _, right := range []bool{true, false} {
					f := digested(p, n, right)
					if len(f) < nicspec.FrameMin {
						f = append(f, make([]byte, nicspec.FrameMin-len(f))...)
					}
					first := r.Ordinal()
					r.Play(f)
					e := r.Delivered(x, first, nicspec.RuleNone)
					r.Post(x, 1)
					if p.L3 != 0 && right && mode == nicspec.CrcModeCheck {
						require.Equal(r.T, [2]any{nicspec.VerdictOk, uint32(nicspec.Crc32cResidue)},
							[2]any{e.Crc32c(), e.Crc32cValue()})
					}
				}
			}
		}
	}
}

// digestLengths delivers payloads of every length up to a few beats, and of lengths around the longest.
func digestLengths(r *kit.Rig) {
	crcMode(r, nicspec.CrcModeCheck)
	var frames [][]byte
	for _, p := range []kit.Packet{kit.UDPPacket(0), kit.RocePacket(0)} {
		for n := 0; n < 300; n++ {
			p.Payload, p.Seed, p.Trailer = n, uint64(n), max(0, 60-14-20-8-n)
			frames = append(frames, p.Build())
		}
	}
	for n := 9000; n < 9216-58; n += 13 {
		frames = append(frames, digested(kit.RocePacket(0), n, n%2 > 0))
	}
	for i := 0; i < len(frames); i += 40 { // no more at a time than buffers are posted
		receive.Parse(r, append([][]byte(nil), frames[i:min(i+40, len(frames))]...))
		r.Quiet()
	}
}

func digestDrops(r *kit.Rig) {
	x := r.OpenRx(1, 6, func(f *nicspec.RxqEntryFields) { f.CrcMode, f.PayBufSize = nicspec.CrcModeCheck, 500 })
	y := r.OpenRx(2, 6, func(f *nicspec.RxqEntryFields) { f.CrcMode = nicspec.CrcModeReport })
	r.ByDest(1, 2, 3)
	r.Write(nicspec.RegCtrl, 1)
	good, bad, long := kit.FrameTo(1, digested(kit.UDPPacket(0), 100, true)),
		kit.FrameTo(1, digested(kit.UDPPacket(0), 100, false)), kit.FrameTo(1, digested(kit.UDPPacket(0), 600, false))
	r.Post(x, 30)
	r.Post(y, 30)
	r.Synced()
	deliver := func(x *kit.RxRing, rule int, f []byte) {
		r.T.Helper()
		first := r.Ordinal()
		r.Play(f)
		r.Delivered(x, first, uint16(rule))
	}
	deliver(x, 0, bad)
	r.Dropped("too long, and drop_bad_crc32c is 0", nicspec.CntRxDropTooLong, long)
	r.Write(nicspec.RegRxCtrl, 8)
	r.Synced()
	r.Dropped("bad", nicspec.CntRxDropCrc32c, bad)
	r.Dropped("bad and too long", nicspec.CntRxDropCrc32c, long)
	deliver(x, 0, good)
	fragment := kit.UDPPacket(80) // digests of fragments are not checked
	fragment.Frag = 0x2000
	deliver(x, 0, kit.FrameTo(1, fragment.Build()))
	r.Dropped("no IP: all of it is checked", nicspec.CntRxDropCrc32c, kit.FrameTo(1, kit.Blob(70, 1)))
	deliver(y, 1, kit.FrameTo(2, append([]byte(nil), bad...)))
	r.Dropped("bad, but its queue is off", nicspec.CntRxDropQueueOff, kit.FrameTo(3, append([]byte(nil), bad...)))
	spoilt := kit.FrameTo(1, kit.Spoiled(false, false, true))
	r.Write(nicspec.RegRxCtrl, 12)
	r.Synced()
	r.Dropped("its ICRC is bad, too", nicspec.CntRxDropIcrc, spoilt)
	r.Write(nicspec.RegRxCtrl, 8)
	r.Synced()
	r.Dropped("bad, with the ICRC not checked", nicspec.CntRxDropCrc32c, spoilt)
	r.Disable(nicspec.TableRxq, 1)
	x = r.OpenRx(1, 2, func(f *nicspec.RxqEntryFields) { f.CrcMode = nicspec.CrcModeCheck })
	r.Dropped("no descriptor, too", nicspec.CntRxDropCrc32c, bad)
	r.Dropped("no descriptor", nicspec.CntRxDropNoDesc, good)
	r.Nothing(&x.Ring)
}

// digestCredit sends frames with wrong digests to rules with an account: they must draw no credit and take no
// account_seq.
func digestCredit(r *kit.Rig) {
	crcMode(r, nicspec.CrcModeCheck)
	receive.OpenPosted(r, 1, 2)
	r.Write(nicspec.RegRxCtrl, 8)
	a := &receive.Account{Index: 5, Balance: 2, Rule: 1, FastQ: 1, SlowQ: 2}
	receive.SetAccount(r, a)
	bad, good := kit.FrameTo(5, digested(kit.UDPPacket(0), 60, false)),
		kit.FrameTo(5, digested(kit.UDPPacket(0), 60, true))
	for i := range 4 {
		r.Dropped("a bad digest", nicspec.CntRxDropCrc32c, bad)
		receive.CheckAccount(r, a)
		first := r.Ordinal()
		r.Play(good)
		slow, q := a.SlowPath(), 1+i/2
		seq := a.Draw(slow)
		r.Delivered(r.Rx[q], first, 1, func(f *nicspec.RxCqeFields) { f.SlowPath, f.AccountSeq = slow, seq })
		receive.CheckAccount(r, a)
	}
}

// withDigest returns an entry that sends a frame with a CRC-32C at offset `at`, of the bytes from offset `from` on.
func withDigest(r *kit.Rig, w []*kit.Window, p kit.Packet, f []byte, k, at, from int,
	rng *rand.Rand) nicspec.WqeFields {
	r.T.Helper()
	e := r.Cut(w, f, min(rng.IntN(17), len(f)-3), 1+rng.IntN(2), rng)
	e.L3Off, e.L4Off, e.FPad = uint8(p.L3Off()), uint8(p.L3Off()+p.L3Len()), true
	flags(&e, k)
	e.FCrc32c, e.CrcOff, e.CrcStart = true, uint16(at), uint16(from)
	return e
}

func digestsOut(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(71, 9))
	var all []nicspec.WqeFields
	for i, p := range digestKinds() {
		for k := range flagKinds {
			p.Payload = 30 + rng.IntN(400)
			f := p.Build()
			head := p.L3Off() + p.L3Len() + 20
			end := len(f)
			if p.Roce {
				end -= 4
			}
			from := head + rng.IntN(10)
			e := withDigest(r, w, p, f, k, end-4-(i+k)%2*rng.IntN(9), from, rng) // the digest comes after the data
			e.FComplete = rng.IntN(2) > 0
			all = append(all, e, withDigest(r, w, p, f, k, head, head+4+rng.IntN(end-head-5), rng)) // before the data
			if k%3 == 0 {
				all = append(all, r.Cut(w, f, 0, 2, rng)) // a frame without a digest
			}
		}
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

// digestPlaces puts digest and data at and around every limit of their offsets.
func digestPlaces(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(72, 9))
	var all []nicspec.WqeFields
	p := kit.RocePacket(60)
	f := p.Build()
	l4 := p.L3Off() + p.L3Len()
	end := len(f) - 4
	for _, at := range []int{0, 1, 13, 14, 20, 33, 34, 41, 42, 53, 54, 55, 57, 58, 59, end - 5, end - 4, end - 3, end,
		end + 1, len(f), len(f) + 1, 0x4000, 0xffff} {
		for _, from := range []int{0, at - 5, at - 4, at - 1, at, at + 1, at + 3, at + 4, at + 5, l4 + 20, end - 1, end,
			end + 1, len(f) - 1, len(f), 0xffff} {
			if from >= 0 && from <= 0xffff {
				all = append(all, withDigest(r, w, p, f, (at+from)%flagKinds, at, from, rng),
					withDigest(r, w, p, f, 0, at, from, rng))
			}
		}
	}
	r.Transmit(x, all...)
}

func digestsAtRandom(r *kit.Rig) {
	x, w := r.TxSetup(2, 6)
	rng := rand.New(rand.NewPCG(73, 9))
	kinds := kit.EveryKind()
	var all []nicspec.WqeFields
	for range 600 {
		p := kinds[rng.IntN(len(kinds))]
		p.Payload, p.Seed = rng.IntN(200), rng.Uint64()
		f := p.Build()
		if len(f) < 20 {
			continue
		}
		e := withDigest(r, w, p, f, rng.IntN(flagKinds)*rng.IntN(2), rng.IntN(len(f)+4), rng.IntN(len(f)+4), rng)
		if rng.IntN(8) == 0 {
			e.L4Off = uint8(rng.Uint32())
		}
		e.FComplete = rng.IntN(3) > 0
		all = append(all, e)
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

// longDigests covers as many bytes as a frame can have.
func longDigests(r *kit.Rig) {
	x, w := r.TxSetup(2, 5)
	rng := rand.New(rand.NewPCG(74, 9))
	var all []nicspec.WqeFields
	for n := 9216 - 70; n <= 9216; n++ {
		p := kit.RocePacket(n - 58)
		f := p.Build()
		at, from := n-8, 54
		if n%2 > 0 {
			at, from = 54, 58+n%50
		}
		all = append(all, withDigest(r, w, p, f, []int{0, 2, 7, 6}[n%4], at, from, rng))
	}
	r.Transmit(x, all...)
}
