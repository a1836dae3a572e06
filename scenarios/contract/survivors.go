package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// sweepChecks move an event over another, a cycle at a time: bugs that show in one cycle are met by one of them.
var sweepChecks = []check{
	{"transmit rings/disabled while entries are issued", "T11 T1 G7", stalled, disabledWhileIssued},
	{"transmit errors/timeouts while completions never stop", "P6 P7 B7", calm, timeoutUnderFlood},
}

var accountSweepChecks = []check{
	{"accounts/resumed while slow frames latch", "A2 A5 G4", calm, resumedWhileLatching},
	{"accounts/written while a burst is decided", "A1 A3 A4", calm, writtenWhileDeciding},
}

// disabledWhileIssued disables a queue a cycle later each time, while its entries are being started as fast as there is room
// for them: afterwards it works as before, as long as it is asked to.
func disabledWhileIssued(r *rig) {
	_, w := r.txSetup(0, 2)
	const rounds = 96
	for k := range rounds {
		x := r.openTx(6, 4)
		var all []nicspec.WqeFields
		for i := range x.Size() {
			e := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
			if i%4 != k%4 {
				e = sendEntry(nil, r.piece(w[i%2], 0, 64, pattern(60+(i*k*37)%(1+k%3*2000), uint64(i))))
			}
			all = append(all, e)
		}
		posts := r.enqueue(x, all...)
		r.tell(&x.ring)
		r.run(2*linkCycles + k*2)
		r.disable(nicspec.TableTxq, 6)
		n := 0
		for e := r.next(&x.ring); e != nil; e = r.next(&x.ring) {
			require.Equal(r.t, uint16(n), nicspec.TxCqe(e).Index())
			if posts[n].frame != nil {
				require.Equal(r.t, posts[n].frame, r.left(6).data)
			}
			n++
		}
		r.noFrames()
	}
	x := r.openTx(6, 4)
	for k := range 2 * x.Size() {
		r.transmit(x, r.sound(w[k%2], uint64(k)), nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	}
}

// timeoutUnderFlood has completions that nobody asked for come in beat after beat, for longer than a read may take: it times
// out in its time all the same.
func timeoutUnderFlood(r *rig) {
	const wait, flood = timeout, 120 // TLPs of 4 KB
	r.write(nicspec.RegCplTimeout, wait)
	x, _ := r.txSetup(2, 3)
	r.failOnce(inject.FaultSilent, x.Base, 64)
	var asked, ended, last int64
	r.watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && x.Contains(h.Address):
			asked = c.Last
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MWr && h.Address == x.CqeAt(0):
			ended = c.Last
		case c.Kind == boundary.TLPIn && h.Kind == tlp.CplD && h.RequesterID != nicspec.RequesterNic:
			last = c.Last
		}
	}
	r.enqueue(x, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	r.tell(&x.ring)
	h := tlp.Header{Kind: tlp.CplD, Length: 1024, ByteCount: 4096, RequesterID: 0x0300, CompleterID: nicspec.RequesterArm}
	data := make([]byte, 4096)
	for range flood {
		r.send(h, data)
	}
	r.event(&x.ring, nicspec.StatusCplTimeout, 0)
	r.quiet()
	r.watch = nil
	require.Positive(r.t, asked)
	require.Greater(r.t, last, asked+2*wait+1024, "the flood is too short")
	require.LessOrEqual(r.t, ended, asked+wait+1024+nicspec.VisibleCycles, "when the read of cycle %d ended", asked)
	r.disable(nicspec.TableTxq, 2)
}

// resumedWhileLatching resumes an account with credits, a cycle later each time, while slow frames latch it. Whichever comes
// first, it is not slow afterwards: a frame that was slow came before the credits, and so its latch before the resume.
func resumedWhileLatching(r *rig) {
	a := &account{index: 5, latch: true, rule: 2, fastQ: 1, slowQ: 2}
	r.openPosted(a.fastQ, a.slowQ)
	const burst = 6
	for k := range 140 {
		a.balance = 0
		r.setAccount(a)
		for range burst {
			r.play(to(a.index, frameOf(64)))
		}
		r.run(k)
		r.write(nicspec.RegAccountCredit(a.index), 1<<31|1<<12)
		r.quiet()
		require.Zero(r.t, r.read(nicspec.RegAccountCredit(a.index))>>31, "the account is slow %d cycles after its frames began and a resume with credits", k)
		n := 0
		for _, q := range []int{a.fastQ, a.slowQ} {
			for r.next(&r.rx[q].ring) != nil {
				r.post(r.rx[q], 1)
				n++
			}
		}
		require.Equal(r.t, burst, n)
	}
}

// writtenWhileDeciding writes an account anew, a cycle later each time, while a burst of frames draws on it: those that were
// decided before have the old numbers and change nothing of the new entry, those after it have the new ones from 0 on.
func writtenWhileDeciding(r *rig) {
	a := &account{index: 9, rule: 3, fastQ: 1, slowQ: 2}
	r.openPosted(a.fastQ, a.slowQ)
	const burst, balance = 12, 1000
	entry := nicspec.AccountEntryFields{Balance: balance}
	a.balance = balance
	r.setAccount(a)
	for k := range 140 {
		for range burst {
			r.play(to(a.index, frameOf(64)))
		}
		r.run(k % 70)
		r.commandLater(nicspec.TableOpWrite, nicspec.TableAccount, a.index, encode(&entry, nicspec.AccountEntrySize))
		require.Equal(r.t, tblOk, r.commandEnd())
		r.quiet()
		fresh, last, renewed := 0, -1, false
		for e := r.next(&r.rx[a.fastQ].ring); e != nil; e = r.next(&r.rx[a.fastQ].ring) {
			seq := int(nicspec.RxCqe(e).AccountSeq())
			if fresh++; seq == 0 {
				fresh, renewed = 1, true
			} else if renewed {
				require.Equal(r.t, last+1, seq, "numbers follow one another")
			}
			last = seq
			r.post(r.rx[a.fastQ], 1)
		}
		got := nicspec.DecodeAccountEntry(r.entry(nicspec.TableAccount, a.index))
		if !renewed {
			fresh = 0
		}
		require.EqualValues(r.t, fresh, got.Drawn, "frames with numbers of the new entry, and how many it says drew")
		require.EqualValues(r.t, balance-got.Drawn, got.Balance)
		require.Equal(r.t, got.Drawn, got.Seq)
		for range 3 { // so that the old numbers are not 0
			r.play(to(a.index, frameOf(64)))
		}
		r.quiet()
		for r.next(&r.rx[a.fastQ].ring) != nil {
			r.post(r.rx[a.fastQ], 1)
		}
	}
}
