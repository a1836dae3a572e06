package pcie

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/stack/driver"
)

// MixedChecks run both directions at once while completions are split and shuffled in various ways. How they are split
// and shuffled is in kit.Around under the check's name.
var MixedChecks = func() []kit.Check {
	var all []kit.Check
	for _, mps := range []int{128, 256, 4096} {
		for _, rcb := range []int{64, 128} {
			for _, random := range []bool{false, true} {
				how := "longest"
				if random {
					how = "random, shuffled"
				}
				c := kit.Check{Name: fmt.Sprintf("mixed/completions of %d B, RCB %d, %s", mps, rcb, how),
					Rules: "P5 P9 R10 T4 C1", Stalls: kit.Calm,
					Run: func(r *kit.Rig) { bothWays(r, rcb == 128) }}
				all = append(all, c)
				kit.Around[c.Name] = func(s *board.Endpoint) {
					s.Limits = tlp.Limits{MPS: mps, MRRS: 4096, RCB: rcb}
					if random {
						s.Split, s.Delay.Jitter = tlp.CplRandom, simcore.Microsecond
					}
				}
			}
		}
	}
	return append(all, kit.Check{Name: "mixed/much back-pressure", Rules: "B4 B6 B7 C1 C3", Stalls: []int{30, 60, 90},
		Run: func(r *kit.Rig) { bothWays(r, false) }})
}()

// bothWays receives and sends at once, on several queues each.
func bothWays(r *kit.Rig, rcb bool) {
	r.Set(r.NIC.SetDeviceControl(driver.DeviceControl{MPS: 256, MRRS: 4096, RCB128: rcb}))
	r.ByDest(1, 2, 3)
	r.ReceiveAll(1)
	x, w := r.TxSetup(4, 6)
	y := r.OpenTx(5, 6)
	rng := rand.New(rand.NewPCG(15, 9))
	var rings []*kit.RxRing
	for q := range 3 {
		rx := r.OpenRx(q+1, 6, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitMode(q), 30 })
		r.Post(rx, 60)
		rings = append(rings, rx)
	}
	var a, b []nicspec.WqeFields
	for range 60 {
		a = append(a, r.Cut(w, kit.Pattern(60+rng.IntN(2000), rng.Uint64()), rng.IntN(17), 2, rng))
		b = append(b, r.Cut(w, kit.Pattern(60+rng.IntN(300), rng.Uint64()), 0, 3, rng))
	}
	pa, pb := r.Enqueue(x, a...), r.Enqueue(y, b...)
	r.RingDoorbell(&x.Ring)
	r.RingDoorbell(&y.Ring)
	first := r.Ordinal()
	for i := range 150 {
		n := 60 + rng.IntN(500)
		if i%10 == 0 {
			n = 4000
		}
		r.Play(kit.FrameTo(1+i%3, kit.FrameOf(n)))
	}
	for i := range 150 {
		r.Delivered(rings[i%3], first+i, uint16(i%3))
	}
	r.Ended(x, 0, pa)
	r.Ended(y, 0, pb)
	r.Quiet()
	r.NoFrames()
	c := r.Counters()
	require.EqualValues(r.T, 150, c[kit.PortCounter(nicspec.CntRxDelivered)])
	require.EqualValues(r.T, 120, c[kit.PortCounter(nicspec.CntTxFrames)])
}
