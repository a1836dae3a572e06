package contract

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
	"nictwin/stack/driver"
)

// mixedChecks are both directions at once, with completions split and shuffled in every way. Which way is in their names,
// and around makes it so.
var mixedChecks = func() []check {
	var all []check
	for _, mps := range []int{128, 256, 4096} {
		for _, rcb := range []int{64, 128} {
			for _, random := range []bool{false, true} {
				how := "longest"
				if random {
					how = "random, shuffled"
				}
				c := check{fmt.Sprintf("mixed/completions of %d B, RCB %d, %s", mps, rcb, how), "P5 P9 R10 T4 C1", calm,
					func(r *rig) { bothWays(r, rcb == 128) }}
				all = append(all, c)
				around[c.name] = func(s *board.Endpoint) {
					s.Limits = tlp.Limits{MPS: mps, MRRS: 4096, RCB: rcb}
					if random {
						s.Split, s.Delay.Jitter = tlp.CplRandom, simcore.Microsecond
					}
				}
			}
		}
	}
	return append(all, check{"mixed/much back-pressure", "B4 B6 B7 C1 C3", []int{30, 60, 90}, func(r *rig) { bothWays(r, false) }})
}()

// bothWays receives and sends at once, on several queues each.
func bothWays(r *rig, rcb bool) {
	r.set(r.nic.SetDeviceControl(driver.DeviceControl{MPS: 256, MRRS: 4096, RCB128: rcb}))
	r.byDest(1, 2, 3)
	r.receiveAll(1)
	x, w := r.txSetup(4, 6)
	y := r.openTx(5, 6)
	rng := rand.New(rand.NewPCG(15, 9))
	var rings []*rxRing
	for q := range 3 {
		rx := r.openRx(q+1, 6, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitMode(q), 30 })
		r.post(rx, 60)
		rings = append(rings, rx)
	}
	var a, b []nicspec.WqeFields
	for range 60 {
		a = append(a, r.cut(w, pattern(60+rng.IntN(2000), rng.Uint64()), rng.IntN(17), 2, rng))
		b = append(b, r.cut(w, pattern(60+rng.IntN(300), rng.Uint64()), 0, 3, rng))
	}
	pa, pb := r.enqueue(x, a...), r.enqueue(y, b...)
	r.tell(&x.ring)
	r.tell(&y.ring)
	first := r.ordinal()
	for i := range 150 {
		n := 60 + rng.IntN(500)
		if i%10 == 0 {
			n = 4000
		}
		r.play(to(1+i%3, frameOf(n)))
	}
	for i := range 150 {
		r.delivered(rings[i%3], first+i, uint16(i%3))
	}
	r.ended(x, 0, pa)
	r.ended(y, 0, pb)
	r.quiet()
	r.noFrames()
	c := r.counters()
	require.EqualValues(r.t, 150, c[port(nicspec.CntRxDelivered)])
	require.EqualValues(r.t, 120, c[port(nicspec.CntTxFrames)])
}
