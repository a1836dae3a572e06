package contract

import (
	"fmt"
	"math/rand/v2"

	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// earlyChecks send completions that nobody asked for at the time of requests. Which of them meet a request is chance, and what
// becomes of it then is for the referee to say.
var earlyChecks = func() []check {
	var all []check
	for _, c := range []struct {
		name string
		cpl  tlp.Header
	}{
		{"without data", tlp.Header{Kind: tlp.Cpl, Status: tlp.StatusUR, ByteCount: 4}},
		{"of one beat", tlp.Header{Kind: tlp.CplD, Length: 25, ByteCount: 100}},
		{"of eight beats", tlp.Header{Kind: tlp.CplD, Length: 256, ByteCount: 1024}},
	} {
		all = append(all, check{fmt.Sprintf("transmit errors/completions %s before and after their requests", c.name), "P6 P7 C3",
			[]int{0, 60}, func(r *rig) { earlyCompletions(r, c.cpl) }})
	}
	return all
}()

// earlyCompletions has the device read all the time while completions for any tag come in.
func earlyCompletions(r *rig, cpl tlp.Header) {
	r.write(nicspec.RegCplTimeout, timeout)
	rng := rand.New(rand.NewPCG(uint64(cpl.Length), 3))
	cpl.RequesterID = nicspec.RequesterNic
	data := pattern(cpl.PayloadBytes(), 1)
	for round := range 40 {
		x, w := r.txSetup(round%4, 6) // the one before may have stopped
		for i := range x.size() {
			r.enqueue(x, r.sound(w[i%2], uint64(i)))
		}
		r.ringTx(x)
		for range 500 / (1 + int(cpl.Length)/64) {
			cpl.Tag = uint8(rng.Uint32())
			r.send(cpl, data)
		}
		r.quiet()
		r.disable(nicspec.TableTxq, x.q)
		r.free = [2]uint64{1 << 20, 1 << 33}
	}
	r.out = nil
}
