package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// sweepChecks move an event over another, a cycle at a time: bugs that show in one cycle are met by one of them.
var sweepChecks = []check{
	{"transmit rings/disabled while entries are issued", "T11 T1 G7", stalled, disabledWhileIssued},
	{"transmit rings/disabled as entries arrive", "T11 T1 Q5", calm, disabledAsTheyArrive},
	{"transmit errors/timeouts while completions never stop", "P6 P7 B7", calm, timeoutUnderFlood},
	answeredCheck,
}

// answeredCheck has completions of a beat each, so that the way in is no wider than that out.
var answeredCheck = func() check {
	c := check{"transmit errors/timeouts while answers never stop", "P6 B7", calm, timeoutUnderAnswers}
	around[c.name] = func(e *board.Endpoint) { e.Split = tlp.CplEachRCB }
	return c
}()

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
		r.run(2*r.way + k*2)
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

// disabledAsTheyArrive disables a queue in the very cycles in which the entries that were read come in, over and over: what is
// lost of them each time must not add up.
func disabledAsTheyArrive(r *rig) {
	_, w := r.txSetup(0, 2)
	const window, times = 28, 16
	var told, came int64
	for round := range 1 + window*times {
		x := r.openTx(6, 4)
		for range x.Size() {
			r.enqueue(x, nicspec.WqeFields{Opcode: nicspec.OpcodeNop})
		}
		r.stage(make([]byte, nicspec.TxqEntrySize))
		r.synced()
		if round == 0 { // from the doorbell to the entries
			r.watch = func(c boundary.Crossing) {
				switch h := tlp.Parse(&c.TLP.Hdr); {
				case c.Kind == boundary.TLPIn && h.Kind == tlp.MWr && h.Address == nicspec.BarBase+uint64(x.Doorbell()):
					told = c.Last
				case c.Kind == boundary.TLPIn && h.Kind == tlp.CplD && h.RequesterID == nicspec.RequesterNic && came == 0:
					came = c.Last
				}
			}
		}
		r.tell(&x.ring)
		if round == 0 {
			r.until("the entries come", func() bool { return came > 0 })
			r.watch = nil
		} else {
			r.run(int(came-told) - 2 + round%window)
		}
		r.write(nicspec.RegTblCmd, commandWord(nicspec.TableOpWrite, nicspec.TableTxq, 6))
		require.Equal(r.t, tblOk, r.commandEnd())
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
	gaps, tag := 0, uint8(0)
	r.watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && x.Contains(h.Address):
			asked, tag = c.Last, h.Tag
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MWr && h.Address == x.CqeAt(0):
			ended = c.Last
		case c.Kind == boundary.TLPIn && h.Kind == tlp.CplD && h.Length == 1024:
			if last > 0 && c.First != last+1 {
				gaps++
			}
			last = c.Last
		}
	}
	r.enqueue(x, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	r.tell(&x.ring)
	r.struck()
	h := tlp.Header{Kind: tlp.CplD, Length: 1024, ByteCount: 4096, RequesterID: nicspec.RequesterNic, CompleterID: nicspec.RequesterArm, Tag: tag ^ 0x80}
	data := make([]byte, 4096)
	for range flood {
		r.send(h, data)
	}
	r.event(&x.ring, nicspec.StatusCplTimeout, 0)
	r.quiet()
	r.watch = nil
	require.Positive(r.t, asked)
	require.Zero(r.t, gaps, "cycles without a completion")
	require.Greater(r.t, last, asked+2*wait+1024, "the flood is too short")
	require.LessOrEqual(r.t, ended, asked+wait+1024+nicspec.VisibleCycles, "when the read of cycle %d ended", asked)
	r.disable(nicspec.TableTxq, 2)
}

// timeoutUnderAnswers has answers to other reads come in beat after beat, for longer than a read may take. Two reads are
// answered too late meanwhile: both have timed out, though the device has to find time to say so of the first.
func timeoutUnderAnswers(r *rig) {
	const wait, late, entries = 4 * timeout, 4*timeout + 1024 + 600, 64
	r.write(nicspec.RegCplTimeout, wait)
	y, w := r.txSetup(4, 6)
	rings := []*txRing{r.openTx(2, 3), r.openTx(3, 3)}
	var all []nicspec.WqeFields
	for i := range entries {
		all = append(all, sendEntry(nil, r.piece(w[i%2], 0, 64, pattern(nicspec.FrameMax, uint64(i)))))
	}
	posts := r.enqueue(y, all...)
	r.b.Faults.Clear()
	for _, x := range rings {
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultNone, From: x.Base, To: x.Base + 64, Delay: r.b.Cycles(late)}))
		r.enqueue(x, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	}
	var asked, last int64
	gaps, answers := 0, 0
	r.watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && (rings[0].Contains(h.Address) || rings[1].Contains(h.Address)):
			asked = c.Last
		case c.Kind == boundary.TLPIn:
			if in := c.Last - asked; asked > 0 && in > wait && in < late {
				answers++
				if c.First != last+1 {
					gaps++
				}
			}
			last = c.Last
		}
	}
	r.tell(&y.ring)
	r.run(wait / 4)
	for _, x := range rings {
		r.tell(&x.ring)
	}
	for _, x := range rings {
		r.event(&x.ring, nicspec.StatusCplTimeout, 0)
	}
	r.ended(y, 0, posts)
	r.quiet()
	r.watch = nil
	r.b.Faults.Clear()
	if r.sizes.EthBits >= 512 { // else frames leave more slowly than their bytes may come
		require.Greater(r.t, answers, late-wait-100, "beats that came when the reads had timed out")
		require.LessOrEqual(r.t, gaps, len(rings)+1, "times without an answer")
	}
	for _, x := range rings {
		r.disable(nicspec.TableTxq, x.Number)
	}
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
