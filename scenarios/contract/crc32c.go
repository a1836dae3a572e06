package contract

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var crc32cChecks = []check{
	{"crc32c/receive, frames by hand", "X3 X4", calm, func(r *rig) { r.crcMode(nicspec.CrcModeReport); parseByHand(r) }},
	{"crc32c/receive, frames by hand, checked", "X3 X4", calm, func(r *rig) { r.crcMode(nicspec.CrcModeCheck); parseByHand(r) }},
	{"crc32c/receive, frames cut short", "X3 X4", calm, func(r *rig) { r.crcMode(nicspec.CrcModeCheck); cutShort(r) }},
	{"crc32c/receive, frames damaged at random", "X3 X4", calm, func(r *rig) { r.crcMode(nicspec.CrcModeCheck); damaged(r) }},
	{"crc32c/receive, RoCE opcodes", "X3 H7", calm, func(r *rig) { r.crcMode(nicspec.CrcModeReport); roceOpcodes(r) }},
	{"crc32c/receive, digests", "X3 X4", stalled, digestsIn},
	{"crc32c/receive, lengths", "X3 X4", calm, digestLengths},
	{"crc32c/receive, drops", "X5 R4 R7 R8", stalled, digestDrops},
	{"crc32c/transmit, digests after and before their data", "X1 X2 T8", stalled, digestsOut},
	{"crc32c/transmit, where digests may stand", "X1", calm, digestPlaces},
	{"crc32c/transmit, entries at random", "X1 X2 T3 T7 T8", stalled, digestsAtRandom},
	{"crc32c/transmit, the longest frames", "X1 X2", calm, longDigests},
}

var crcAccountChecks = []check{{"crc32c/a frame that is dropped draws no credit", "X5 A3", stalled, digestCredit}}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc32c(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// crcRange is the range of [X3]; ok is false where there is none.
func crcRange(b []byte, f *nicspec.RxCqeFields) (from, to int, ok bool) {
	n, l3, l4 := len(b), int(f.L3Off), int(f.L4Off)
	from, to = int(f.PayloadOff), n
	switch {
	case f.L4Type == nicspec.L4TypeUdp:
		u := int(be.Uint16(b[l4+4:]))
		if to = l4 + u; f.Roce {
			to -= 4
		}
		if u < 8 || to > n {
			to = n
		}
	case f.L3Type != nicspec.L3TypeNone && !f.IpLenBad:
		to = l3 + int(be.Uint16(b[l3+2:]))
		if f.L3Type == nicspec.L3TypeIpv6 {
			to = l3 + 40 + int(be.Uint16(b[l3+4:]))
		}
	}
	whole := true
	if f.Roce {
		whole = l4+20+extOf[f.BthOpcode] <= n
	} else if f.L4Type == nicspec.L4TypeTcp {
		d := 4 * int(b[l4+12]>>4)
		whole = d < 20 || l4+d <= n
	}
	return from, to, !f.Frag && to > from && whole
}

// digest sets what a completion entry says of a payload's CRC-32C, in a queue's mode.
func digest(b []byte, f *nicspec.RxCqeFields, mode nicspec.CrcMode) {
	from, to, ok := crcRange(b, f)
	if mode == nicspec.CrcModeOff || !ok {
		return
	}
	f.Crc32cValue = crc32c(b[from:to])
	if mode == nicspec.CrcModeCheck && to-from >= 5 {
		f.Crc32c = verdict(crc32c(b[from:to-4]) == binary.LittleEndian.Uint32(b[to-4:]))
	}
}

// crcMode is the mode of the receive queues that are opened later.
func (r *rig) crcMode(m nicspec.CrcMode) { r.rxMod = func(f *nicspec.RxqEntryFields) { f.CrcMode = m } }

// digested is a packet whose payload ends with its CRC-32C.
func digested(p pkt, n int, right bool) []byte {
	p.payload, p.digest = n, csumRight
	if !right {
		p.digest = csumWrong
	}
	return p.build()
}

// digestKinds are packets that may carry a digest.
func digestKinds() []pkt {
	tcp := pkt{l3: 4, proto: protoTCP, payload: 50, dataOff: 7}
	udp6 := udpPacket(0)
	udp6.l3 = 6
	udp6.tags = []uint32{tpidC<<16 | 3}
	return []pkt{udpPacket(0), rocePacket(0), tcp, udp6, {l3: 6, proto: 99}, {l3: 4, proto: 50, options: 12}, {}}
}

func digestsIn(r *rig) {
	for q, mode := range []nicspec.CrcMode{nicspec.CrcModeCheck, nicspec.CrcModeReport, nicspec.CrcModeOff} {
		x := r.openRx(q, 8, func(f *nicspec.RxqEntryFields) { f.CrcMode, f.SplitMode = mode, nicspec.SplitModeHeaders })
		r.post(x, 200)
		r.receiveAll(q)
		for i, p := range digestKinds() {
			for _, n := range []int{5, 6, 7, 8, 40, 63, 64, 65, 100, 700} {
				p.seed = uint64(n + i)
				if (i+n)%3 == 0 && p.l3 != 0 {
					p.trailer = 5 + n%20 // belongs to no payload
				}
				for _, right := range []bool{true, false} {
					f := digested(p, n, right)
					if len(f) < nicspec.FrameMin {
						f = append(f, make([]byte, nicspec.FrameMin-len(f))...)
					}
					first := r.ordinal()
					r.play(f)
					e := r.delivered(x, first, nicspec.RuleNone)
					r.post(x, 1)
					if p.l3 != 0 && right && mode == nicspec.CrcModeCheck {
						require.Equal(r.t, [2]any{nicspec.VerdictOk, uint32(nicspec.Crc32cResidue)}, [2]any{e.Crc32c(), e.Crc32cValue()})
					}
				}
			}
		}
	}
}

// digestLengths has payloads of every length up to some beats, and about the longest.
func digestLengths(r *rig) {
	r.crcMode(nicspec.CrcModeCheck)
	var frames [][]byte
	for _, p := range []pkt{udpPacket(0), rocePacket(0)} {
		for n := 0; n < 300; n++ {
			p.payload, p.seed, p.trailer = n, uint64(n), max(0, 60-14-20-8-n)
			frames = append(frames, p.build())
		}
	}
	for n := 9000; n < 9216-58; n += 13 {
		frames = append(frames, digested(rocePacket(0), n, n%2 > 0))
	}
	for i := 0; i < len(frames); i += 40 { // no more at a time than the buffers hold
		r.parse(append([][]byte(nil), frames[i:min(i+40, len(frames))]...))
		r.quiet()
	}
}

func digestDrops(r *rig) {
	x := r.openRx(1, 6, func(f *nicspec.RxqEntryFields) { f.CrcMode, f.PayBufSize = nicspec.CrcModeCheck, 500 })
	y := r.openRx(2, 6, func(f *nicspec.RxqEntryFields) { f.CrcMode = nicspec.CrcModeReport })
	r.byDest(1, 2, 3)
	r.write(nicspec.RegCtrl, 1)
	good, bad, long := to(1, digested(udpPacket(0), 100, true)), to(1, digested(udpPacket(0), 100, false)), to(1, digested(udpPacket(0), 600, false))
	r.post(x, 30)
	r.post(y, 30)
	r.synced()
	deliver := func(x *rxRing, rule int, f []byte) {
		r.t.Helper()
		first := r.ordinal()
		r.play(f)
		r.delivered(x, first, uint16(rule))
	}
	deliver(x, 0, bad)
	r.dropped("too long, and drop_bad_crc32c is 0", nicspec.CntRxDropTooLong, long)
	r.write(nicspec.RegRxCtrl, 8)
	r.synced()
	r.dropped("bad", nicspec.CntRxDropCrc32c, bad)
	r.dropped("bad and too long", nicspec.CntRxDropCrc32c, long)
	deliver(x, 0, good)
	fragment := udpPacket(80) // is not checked
	fragment.frag = 0x2000
	deliver(x, 0, to(1, fragment.build()))
	r.dropped("no IP: all of it is checked", nicspec.CntRxDropCrc32c, to(1, blob(70, 1)))
	deliver(y, 1, to(2, append([]byte(nil), bad...)))
	r.dropped("bad, but its queue is off", nicspec.CntRxDropQueueOff, to(3, append([]byte(nil), bad...)))
	spoilt := to(1, spoiled(false, false, true))
	r.write(nicspec.RegRxCtrl, 12)
	r.synced()
	r.dropped("its ICRC is bad, too", nicspec.CntRxDropIcrc, spoilt)
	r.write(nicspec.RegRxCtrl, 8)
	r.synced()
	r.dropped("bad, and the ICRC is not looked at", nicspec.CntRxDropCrc32c, spoilt)
	r.disable(nicspec.TableRxq, 1)
	x = r.openRx(1, 2, func(f *nicspec.RxqEntryFields) { f.CrcMode = nicspec.CrcModeCheck })
	r.dropped("no descriptor, too", nicspec.CntRxDropCrc32c, bad)
	r.dropped("no descriptor", nicspec.CntRxDropNoDesc, good)
	r.nothing(&x.ring)
}

// digestCredit has frames with bad digests draw on an account: they take no credit and no ordinal.
func digestCredit(r *rig) {
	r.crcMode(nicspec.CrcModeCheck)
	r.openPosted(1, 2)
	r.write(nicspec.RegRxCtrl, 8)
	a := &account{index: 5, balance: 2, rule: 1, fastQ: 1, slowQ: 2}
	r.setAccount(a)
	bad, good := to(5, digested(udpPacket(0), 60, false)), to(5, digested(udpPacket(0), 60, true))
	for i := range 4 {
		r.dropped("a bad digest", nicspec.CntRxDropCrc32c, bad)
		r.stands(a)
		first := r.ordinal()
		r.play(good)
		slow, q := a.slowPath(), 1+i/2
		seq := a.draw(slow)
		r.delivered(r.rx[q], first, 1, func(f *nicspec.RxCqeFields) { f.SlowPath, f.AccountSeq = slow, seq })
		r.stands(a)
	}
}

// putDigest is [X1]: it inserts the CRC-32C, or says that it may not stand there. The conditions of [T7] hold.
func putDigest(w *nicspec.WqeFields, f []byte) bool {
	l3, l4, end := int(w.L3Off), int(w.L4Off), len(f)
	if w.FIcrc {
		end = l4 + int(be.Uint16(f[l4+4:])) - 4
	}
	at, from, to := int(w.CrcOff), int(w.CrcStart), int(w.CrcOff)
	switch {
	case at == from, at > from && at+4 > end, at < from && (at+4 > from || from >= end):
		return false
	case at < from:
		to = end
	}
	if w.FIpCsum && at < l3+4*int(f[l3]&15) || (w.FUdpCsum || w.FUdpZero) && at < l4+8 || w.FIcrc && at < l4+20 {
		return false
	}
	binary.LittleEndian.PutUint32(f[at:], crc32c(f[from:to]))
	return true
}

// withDigest is an entry that sends a frame with a digest.
func (r *rig) withDigest(w []*window, p pkt, f []byte, k, at, from int, rng *rand.Rand) nicspec.WqeFields {
	r.t.Helper()
	e := r.cut(w, f, min(rng.IntN(17), len(f)-3), 1+rng.IntN(2), rng)
	e.L3Off, e.L4Off, e.FPad = uint8(p.l3Off()), uint8(p.l3Off()+p.l3Len()), true
	flags(&e, k)
	e.FCrc32c, e.CrcOff, e.CrcStart = true, uint16(at), uint16(from)
	return e
}

func digestsOut(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(71, 9))
	var all []nicspec.WqeFields
	for i, p := range digestKinds() {
		for k := range flagKinds {
			p.payload = 30 + rng.IntN(400)
			f := p.build()
			head := p.l3Off() + p.l3Len() + 20
			end := len(f)
			if p.roce {
				end -= 4
			}
			from := head + rng.IntN(10)
			e := r.withDigest(w, p, f, k, end-4-(i+k)%2*rng.IntN(9), from, rng) // after its data
			e.FComplete = rng.IntN(2) > 0
			all = append(all, e, r.withDigest(w, p, f, k, head, head+4+rng.IntN(end-head-5), rng)) // in a header
			if k%3 == 0 {
				all = append(all, r.cut(w, f, 0, 2, rng)) // without
			}
		}
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

// digestPlaces puts digest and data about every limit.
func digestPlaces(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(72, 9))
	var all []nicspec.WqeFields
	p := rocePacket(60)
	f := p.build()
	l4 := p.l3Off() + p.l3Len()
	end := len(f) - 4
	for _, at := range []int{0, 1, 13, 14, 20, 33, 34, 41, 42, 53, 54, 55, 57, 58, 59, end - 5, end - 4, end - 3, end, end + 1, len(f), len(f) + 1, 0x4000, 0xffff} {
		for _, from := range []int{0, at - 5, at - 4, at - 1, at, at + 1, at + 3, at + 4, at + 5, l4 + 20, end - 1, end, end + 1, len(f) - 1, len(f), 0xffff} {
			if from >= 0 && from <= 0xffff {
				all = append(all, r.withDigest(w, p, f, (at+from)%flagKinds, at, from, rng), r.withDigest(w, p, f, 0, at, from, rng))
			}
		}
	}
	r.transmit(x, all...)
}

func digestsAtRandom(r *rig) {
	x, w := r.txSetup(2, 6)
	rng := rand.New(rand.NewPCG(73, 9))
	kinds := odd()
	var all []nicspec.WqeFields
	for range 600 {
		p := kinds[rng.IntN(len(kinds))]
		p.payload, p.seed = rng.IntN(200), rng.Uint64()
		f := p.build()
		if len(f) < 20 {
			continue
		}
		e := r.withDigest(w, p, f, rng.IntN(flagKinds)*rng.IntN(2), rng.IntN(len(f)+4), rng.IntN(len(f)+4), rng)
		if rng.IntN(8) == 0 {
			e.L4Off = uint8(rng.Uint32())
		}
		e.FComplete = rng.IntN(3) > 0
		all = append(all, e)
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

// longDigests covers as much as a frame can hold.
func longDigests(r *rig) {
	x, w := r.txSetup(2, 5)
	rng := rand.New(rand.NewPCG(74, 9))
	var all []nicspec.WqeFields
	for n := 9216 - 70; n <= 9216; n++ {
		p := rocePacket(n - 58)
		f := p.build()
		at, from := n-8, 54
		if n%2 > 0 {
			at, from = 54, 58+n%50
		}
		all = append(all, r.withDigest(w, p, f, []int{0, 2, 7, 6}[n%4], at, from, rng))
	}
	r.transmit(x, all...)
}
