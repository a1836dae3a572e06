package isolation

import (
	"fmt"
	"math/rand/v2"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/transmit"
)

// ChaosChecks run random programs on everything at once; the referee alone judges the result.
var ChaosChecks = func() []kit.Check {
	var all []kit.Check
	for seed := range uint64(10) {
		all = append(all, kit.Check{Name: fmt.Sprintf("chaos/seed %d", seed), Rules: "C1 C2 C3",
			Stalls: []int{[]int{0, 20, 50}[seed%3]}, Run: func(r *kit.Rig) { chaos(r, seed, 1<<18) }})
	}
	// In these programs many entries use the same memory, so that the referee has to attribute each read to one of
	// them.
	for _, seed := range []uint64{104, 105, 500, 530, 616, 629, 632} {
		const bytes = 1 << 11
		all = append(all, kit.Check{Name: fmt.Sprintf("chaos/seed %d, %d B of memory", seed, bytes),
			Rules: "P5 T4 T6 C3", Stalls: []int{[]int{0, 20, 50}[seed%3]},
			Run: func(r *kit.Rig) { chaos(r, seed, bytes) }})
	}
	return all
}()

// chaosQueues is the number of queues in each direction.
const chaosQueues = 3

type chaosRun struct {
	*kit.Rig
	rng *rand.Rand
	w   []*kit.Window
	rx  [chaosQueues]*kit.RxRing
	tx  [chaosQueues]*kit.TxRing
}

// chaos runs a random program. Its frames come from the given number of bytes of each memory.
func chaos(r *kit.Rig, seed uint64, bytes int) {
	c := &chaosRun{Rig: r, rng: rand.New(rand.NewPCG(seed, 17))}
	r.Write(nicspec.RegCplTimeout, 2000)
	r.Write(nicspec.RegCtrl, 3)
	r.SetDevctl(uint32(c.rng.IntN(3)), uint32(c.rng.IntN(6)), 0)
	c.w = []*kit.Window{r.Window(1, nicspec.EndpointArm, bytes), r.Window(2, nicspec.EndpointHost, bytes)}
	r.BadKeys(c.w[0])
	r.ByDest(0, 1, 2)
	for q := range chaosQueues {
		c.open(true, q)
		c.open(false, q)
	}
	for range 150 {
		c.step()
		r.Run(c.rng.IntN(200))
	}
	c.Bed.Faults.Clear()
	r.Played()
	r.Run(2 * 2000)
}

func (c *chaosRun) open(rx bool, q int) {
	log := 2 + c.rng.IntN(4)
	if rx {
		c.rx[q] = c.OpenRx(q, log, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen = nicspec.SplitMode(c.rng.IntN(3)), uint16(c.rng.IntN(200))
			f.PayBufSize = uint16(500 + c.rng.IntN(8700))
		})
	} else {
		c.tx[q] = c.OpenTx(q, log)
	}
}

func (c *chaosRun) step() {
	q := c.rng.IntN(chaosQueues)
	switch c.rng.IntN(14) {
	case 0, 1, 2:
		for range c.rng.IntN(8) {
			f := kit.FrameOf(40 + c.rng.IntN(1000))
			if c.rng.IntN(30) == 0 {
				f = kit.Blob(9100+c.rng.IntN(200), 1)
			}
			c.PlayOn(c.anyPort(), kit.FrameTo(c.rng.IntN(4), f))
		}
	case 3, 4, 5:
		c.postSome(q)
	case 6, 7, 8:
		c.sendSome(q)
	case 9:
		c.reenable(q)
	case 10:
		c.fault(q)
	case 11:
		k := c.Keys[1+c.rng.IntN(2)]
		k.RightRead = c.rng.IntN(8) > 0
		c.Key(1+int(k.BusBase>>nicspec.EndpointShift), k)
	case 12:
		c.setting()
	default:
		c.Doorbell(c.rng.IntN(2) > 0, c.rng.IntN(5), c.rng.Uint32()) // a doorbell of any value
	}
}

// anyPort returns one of the ports. If there is only one, it draws no random number.
func (c *chaosRun) anyPort() int {
	if c.Sizes.Ports == 1 {
		return 0
	}
	return c.rng.IntN(c.Sizes.Ports)
}

// seen takes all completion entries that have been written, and returns the ring's new completion index.
func (c *chaosRun) seen(g *kit.Ring) int {
	for c.Next(g) != nil {
	}
	return int(g.CQI)
}

// postSome posts descriptors, no more than the ring has room for.
func (c *chaosRun) postSome(q int) {
	x := c.rx[q]
	room := x.Size() - (len(x.Posted) - c.seen(&x.Ring))
	if room > 0 {
		c.Post(x, c.rng.IntN(room+1))
	}
}

// sendSome posts work entries, each with a completion entry.
func (c *chaosRun) sendSome(q int) {
	x := c.tx[q]
	room := x.Size() - int(x.PI-uint16(c.seen(&x.Ring)))
	if room <= 0 {
		return
	}
	for range c.rng.IntN(room + 1) {
		e := c.Cut(c.w, kit.Pattern(60+c.rng.IntN(900), c.rng.Uint64()), c.rng.IntN(17), 1+c.rng.IntN(2), c.rng)
		if c.rng.IntN(6) == 0 {
			e = c.Sound(c.w[0], c.rng.Uint64())
			f := transmit.Flaws(c.Rig)
			f[c.rng.IntN(len(f))].Mod(&e)
			e.FComplete = true
		} else {
			e.Port = uint8(c.anyPort())
		}
		c.Enqueue(x, e)
	}
	c.RingDoorbell(&x.Ring)
}

// reenable disables a queue in any state, and enables it again.
func (c *chaosRun) reenable(q int) {
	rx := c.rng.IntN(2) > 0
	if rx {
		c.Disable(nicspec.TableRxq, q)
	} else {
		c.Disable(nicspec.TableTxq, q)
	}
	c.Run(c.rng.IntN(300))
	c.open(rx, q)
}

// fault makes a read of a ring or of pieces fail.
func (c *chaosRun) fault(q int) {
	all := []inject.FaultKind{inject.FaultUR, inject.FaultCA, inject.FaultPoison, inject.FaultSilent,
		inject.FaultByteCount, inject.FaultShort,
		inject.FaultTwice, inject.FaultTag, inject.FaultNone, inject.FaultLong}
	f := inject.Fault{Kind: all[c.rng.IntN(len(all))], Count: 1 + c.rng.IntN(2), Skip: c.rng.IntN(4),
		Nth: c.rng.IntN(3)}
	if c.rng.IntN(2) == 0 {
		f.Delay = c.Bed.Cycles(500)
	}
	switch c.rng.IntN(3) {
	case 0:
		f.From = c.rx[q].Base
	case 1:
		f.From = c.tx[q].Base
	default:
		f.From = c.w[c.rng.IntN(2)].Bus
	}
	f.To = f.From + 1<<18
	if c.rng.IntN(3) == 0 {
		c.Bed.Faults.Clear()
	}
	if err := c.Bed.Faults.Add(f); err != nil {
		c.T.Fatal(err)
	}
}

func (c *chaosRun) setting() {
	switch c.rng.IntN(4) {
	case 0:
		c.Write(nicspec.RegRxCtrl, c.rng.Uint32()%8)
	case 1:
		c.Write(nicspec.RegCtrl, uint32(3-c.rng.IntN(2)*c.rng.IntN(3)))
		c.Run(c.rng.IntN(500))
		c.Write(nicspec.RegCtrl, 3)
	case 2:
		c.Write(nicspec.RegRxDefault, 1<<16|c.rng.Uint32()%5)
	default:
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.Action(c.rng.IntN(2)), Queue: uint16(c.rng.IntN(4))}
		f.Value[13], f.Mask[13] = uint8(c.rng.IntN(4)), 0xff
		c.Rule(c.rng.IntN(4), f)
	}
}
