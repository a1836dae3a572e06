package reset

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/receive"
)

// SweepChecks move an event past another, a cycle at a time, so that a bug that shows in a single cycle is found.
var SweepChecks = []kit.Check{
	{Name: "transmit rings/disabled while entries are issued", Rules: "T11 T1 G7", Stalls: kit.Stalled,
		Run: disabledWhileIssued},
	{Name: "transmit rings/disabled as entries arrive", Rules: "T11 T1 Q5", Stalls: kit.Calm,
		Run: disabledAsTheyArrive},
	{Name: "transmit errors/timeouts while completions never stop", Rules: "P6 P7 B7", Stalls: kit.Calm,
		Run: timeoutUnderFlood},
	answeredCheck,
}

// answeredCheck has completions of one beat each, so that the device's input takes no more cycles than its output.
var answeredCheck = func() kit.Check {
	c := kit.Check{Name: "transmit errors/timeouts while answers never stop", Rules: "P6 B7", Stalls: kit.Calm,
		Run: timeoutUnderAnswers}
	kit.Around[c.Name] = func(e *board.Endpoint) { e.Split = tlp.CplEachRCB }
	return c
}()

// AccountSweepChecks shift a write of credits against the frames that draw credits, by a cycle each time.
var AccountSweepChecks = []kit.Check{
	{Name: "accounts/resumed while slow frames latch", Rules: "A2 A5 G4", Stalls: kit.Calm, Run: resumedWhileLatching},
	{Name: "accounts/written while a burst is decided", Rules: "A1 A3 A4", Stalls: kit.Calm, Run: writtenWhileDeciding},
}

// disabledWhileIssued disables a queue a cycle later each time, while its entries start as fast as they can. When it is
// enabled again, it must work as before.
func disabledWhileIssued(r *kit.Rig) {
	_, w := r.TxSetup(0, 2)
	const rounds = 96
	for k := range rounds {
		x := r.OpenTx(6, 4)
		var all []nicspec.WqeFields
		for i := range x.Size() {
			e := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
			if i%4 != k%4 {
				e = kit.SendEntry(nil, r.Piece(w[i%2], 0, 64, kit.Pattern(60+(i*k*37)%(1+k%3*2000), uint64(i))))
			}
			all = append(all, e)
		}
		posts := r.Enqueue(x, all...)
		r.RingDoorbell(&x.Ring)
		r.Run(2*r.OneWay + k*2)
		r.Disable(nicspec.TableTxq, 6)
		n := 0
		for e := r.Next(&x.Ring); e != nil; e = r.Next(&x.Ring) {
			require.Equal(r.T, uint16(n), nicspec.TxCqe(e).Index())
			if posts[n].Frame != nil {
				require.Equal(r.T, posts[n].Frame, r.Left(6).Data)
			}
			n++
		}
		r.NoFrames()
	}
	x := r.OpenTx(6, 4)
	for k := range 2 * x.Size() {
		r.Transmit(x, r.Sound(w[k%2], uint64(k)), nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	}
}

// disabledAsTheyArrive disables a queue in the cycles in which fetched entries arrive, over and over, so that resources
// that a disable loses would run out.
func disabledAsTheyArrive(r *kit.Rig) {
	_, w := r.TxSetup(0, 2)
	const window, times = 28, 16
	var rang, came int64
	for round := range 1 + window*times {
		x := r.OpenTx(6, 4)
		for range x.Size() {
			r.Enqueue(x, nicspec.WqeFields{Opcode: nicspec.OpcodeNop})
		}
		r.Stage(make([]byte, nicspec.TxqEntrySize))
		r.Synced()
		if round == 0 { // measures the time from the doorbell until the entries arrive
			r.Watch = func(c boundary.Crossing) {
				switch h := tlp.Parse(&c.TLP.Hdr); {
				case c.Kind == boundary.TLPIn && h.Kind == tlp.MWr && h.Address == nicspec.BarBase+uint64(x.Doorbell()):
					rang = c.Last
				case c.Kind == boundary.TLPIn && h.Kind == tlp.CplD && h.RequesterID == nicspec.RequesterNic &&
					came == 0:
					came = c.Last
				}
			}
		}
		r.RingDoorbell(&x.Ring)
		if round == 0 {
			r.Until("the entries come", func() bool { return came > 0 })
			r.Watch = nil
		} else {
			r.Run(int(came-rang) - 2 + round%window)
		}
		r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpWrite, nicspec.TableTxq, 6))
		require.Equal(r.T, kit.TableOk, r.CommandEnd())
	}
	x := r.OpenTx(6, 4)
	for k := range 2 * x.Size() {
		r.Transmit(x, r.Sound(w[k%2], uint64(k)), nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	}
}

// timeoutUnderFlood sends unexpected completions back to back for longer than a read may take. A read that is not
// answered must still time out in time.
func timeoutUnderFlood(r *kit.Rig) {
	const wait, flood = kit.Timeout, 120 // TLPs of 4 KB in the flood
	r.Write(nicspec.RegCplTimeout, wait)
	x, _ := r.TxSetup(2, 3)
	r.FailOnce(inject.FaultSilent, x.Base, 64)
	var asked, ended, last int64
	gaps, tag := 0, uint8(0)
	r.Watch = func(c boundary.Crossing) {
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
	r.Enqueue(x, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	r.RingDoorbell(&x.Ring)
	r.AwaitFault()
	h := tlp.Header{Kind: tlp.CplD, Length: 1024, ByteCount: 4096, RequesterID: nicspec.RequesterNic,
		CompleterID: nicspec.RequesterArm, Tag: tag ^ 0x80}
	data := make([]byte, 4096)
	for range flood {
		r.Send(h, data)
	}
	r.Event(&x.Ring, nicspec.StatusCplTimeout, 0)
	r.Quiet()
	r.Watch = nil
	require.Positive(r.T, asked)
	require.Zero(r.T, gaps, "cycles without a completion")
	require.Greater(r.T, last, asked+2*wait+1024, "the flood is too short")
	require.LessOrEqual(r.T, ended, asked+wait+1024+nicspec.VisibleCycles, "when the read of cycle %d ended", asked)
	r.Disable(nicspec.TableTxq, 2)
}

// timeoutUnderAnswers answers other reads back to back for longer than a read may take. Two reads are answered too
// late: both must have timed out, although the device is busy reporting the first.
func timeoutUnderAnswers(r *kit.Rig) {
	const wait, late, entries = 4 * kit.Timeout, 4*kit.Timeout + 1024 + 600, 64
	r.Write(nicspec.RegCplTimeout, wait)
	y, w := r.TxSetup(4, 6)
	rings := []*kit.TxRing{r.OpenTx(2, 3), r.OpenTx(3, 3)}
	var all []nicspec.WqeFields
	for i := range entries {
		all = append(all, kit.SendEntry(nil, r.Piece(w[i%2], 0, 64, kit.Pattern(nicspec.FrameMax, uint64(i)))))
	}
	posts := r.Enqueue(y, all...)
	r.Bed.Faults.Clear()
	for _, x := range rings {
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultNone, From: x.Base, To: x.Base + 64,
				Delay: r.Bed.Cycles(late)}))
		r.Enqueue(x, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	}
	var asked, last int64
	gaps, answers := 0, 0
	r.Watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd &&
			(rings[0].Contains(h.Address) || rings[1].Contains(h.Address)):
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
	r.RingDoorbell(&y.Ring)
	r.Run(wait / 4)
	for _, x := range rings {
		r.RingDoorbell(&x.Ring)
	}
	for _, x := range rings {
		r.Event(&x.Ring, nicspec.StatusCplTimeout, 0)
	}
	r.Ended(y, 0, posts)
	r.Quiet()
	r.Watch = nil
	r.Bed.Faults.Clear()
	if r.Sizes.EthBits >= 512 { // on narrower ports, frames leave more slowly than their bytes arrive
		require.Greater(r.T, answers, late-wait-100, "beats that came when the reads had timed out")
		require.LessOrEqual(r.T, gaps, len(rings)+1, "gaps without an answer")
	}
	for _, x := range rings {
		r.Disable(nicspec.TableTxq, x.Number)
	}
}

// resumedWhileLatching resumes an account with credits, a cycle later each time, while slow frames latch it. In either
// order the account must not be slow afterwards: a slow frame drew before the credits came, so its latch comes before
// the resume.
func resumedWhileLatching(r *kit.Rig) {
	a := &receive.Account{Index: 5, Latch: true, Rule: 2, FastQ: 1, SlowQ: 2}
	receive.OpenPosted(r, a.FastQ, a.SlowQ)
	const burst = 6
	for k := range 140 {
		a.Balance = 0
		receive.SetAccount(r, a)
		for range burst {
			r.Play(kit.FrameTo(a.Index, kit.FrameOf(64)))
		}
		r.Run(k)
		r.Write(nicspec.RegAccountCredit(a.Index), 1<<31|1<<12)
		r.Quiet()
		require.Zero(r.T, r.Read(nicspec.RegAccountCredit(a.Index))>>31,
			"the account is slow %d cycles after its frames began and a resume with credits", k)
		n := 0
		for _, q := range []int{a.FastQ, a.SlowQ} {
			for r.Next(&r.Rx[q].Ring) != nil {
				r.Post(r.Rx[q], 1)
				n++
			}
		}
		require.Equal(r.T, burst, n)
	}
}

// writtenWhileDeciding rewrites an account, a cycle later each time, while a burst of frames draws on it. Frames
// decided before the write have numbers of the old entry and must not change the new one; frames after it must be
// numbered from 0.
func writtenWhileDeciding(r *kit.Rig) {
	a := &receive.Account{Index: 9, Rule: 3, FastQ: 1, SlowQ: 2}
	receive.OpenPosted(r, a.FastQ, a.SlowQ)
	const burst, balance = 12, 1000
	entry := nicspec.AccountEntryFields{Balance: balance}
	a.Balance = balance
	receive.SetAccount(r, a)
	for k := range 140 {
		for range burst {
			r.Play(kit.FrameTo(a.Index, kit.FrameOf(64)))
		}
		r.Run(k % 70)
		r.CommandLater(nicspec.TableOpWrite, nicspec.TableAccount, a.Index,
			kit.Encode(&entry, nicspec.AccountEntrySize))
		require.Equal(r.T, kit.TableOk, r.CommandEnd())
		r.Quiet()
		fresh, last, renewed := 0, -1, false
		for e := r.Next(&r.Rx[a.FastQ].Ring); e != nil; e = r.Next(&r.Rx[a.FastQ].Ring) {
			seq := int(nicspec.RxCqe(e).AccountSeq())
			if fresh++; seq == 0 {
				fresh, renewed = 1, true
			} else if renewed {
				require.Equal(r.T, last+1, seq, "numbers follow one another")
			}
			last = seq
			r.Post(r.Rx[a.FastQ], 1)
		}
		got := nicspec.DecodeAccountEntry(r.Entry(nicspec.TableAccount, a.Index))
		if !renewed {
			fresh = 0
		}
		require.EqualValues(r.T, fresh, got.Drawn, "frames with numbers of the new entry, and how many it says drew")
		require.EqualValues(r.T, balance-got.Drawn, got.Balance)
		require.Equal(r.T, got.Drawn, got.Seq)
		for range 3 { // so that the account's numbers are not 0 when it is rewritten
			r.Play(kit.FrameTo(a.Index, kit.FrameOf(64)))
		}
		r.Quiet()
		for r.Next(&r.Rx[a.FastQ].Ring) != nil {
			r.Post(r.Rx[a.FastQ], 1)
		}
	}
}
