package pcie

import (
	"fmt"
	"math/rand/v2"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// EarlyChecks send unexpected completions at about the time of requests. Which of them have the tag of an outstanding
// request is left to chance, and the referee judges the result.
var EarlyChecks = func() []kit.Check {
	var all []kit.Check
	for _, c := range []struct {
		name string
		cpl  tlp.Header
	}{
		{"without data", tlp.Header{Kind: tlp.Cpl, Status: tlp.StatusUR, ByteCount: 4}},
		{"of one beat", tlp.Header{Kind: tlp.CplD, Length: 25, ByteCount: 100}},
		{"of eight beats", tlp.Header{Kind: tlp.CplD, Length: 256, ByteCount: 1024}},
	} {
		all = append(all,
			kit.Check{Name: fmt.Sprintf("transmit errors/completions %s before and after their requests", c.name),
				Rules:  "P6 P7 C3",
				Stalls: []int{0, 60}, Run: func(r *kit.Rig) { earlyCompletions(r, c.cpl) }})
	}
	return all
}()

// earlyCompletions makes the device read pieces continuously while completions with any tag arrive. These start when
// the first piece is read. They leave gaps for the correct completions, since a queue whose ring read fails makes no
// more requests.
func earlyCompletions(r *kit.Rig, cpl tlp.Header) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	r.Write(nicspec.RegDevctl, 0) // reads of 128 B: as many requests as possible
	rng := rand.New(rand.NewPCG(uint64(cpl.Length), 3))
	cpl.RequesterID = nicspec.RequesterNic
	data := kit.Pattern(cpl.PayloadBytes(), 1)
	for round := range 24 {
		x, w := r.TxSetup(round%4, 6) // another queue in each round, since the previous one may be in state Error
		for i := range x.Size() {
			r.Enqueue(x, kit.SendEntry(nil, r.Piece(w[i%2], i, 64, kit.Pattern(1500, uint64(i)))))
		}
		asked := false
		r.Watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			asked = asked || c.Kind == boundary.TLPOut && h.Kind == tlp.MRd &&
				h.Address-x.Base >= uint64(x.Size()*x.Slot)
		}
		r.RingDoorbell(&x.Ring)
		r.Until("a piece is asked for", func() bool { return asked })
		r.Watch = nil
		beats := 1 + int(cpl.Length)/64
		for range 500 / beats {
			cpl.Tag = uint8(rng.Uint32())
			r.Send(cpl, data)
			r.Run(3 * beats)
		}
		r.Quiet()
		r.Disable(nicspec.TableTxq, x.Number)
		r.Free = [2]uint64{1 << 20, 1 << 33}
	}
	r.Out = nil
}
