package isolation

import (
	"fmt"
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/stack/driver"
)

// ResetChaosParts are the optional parts that ResetChaosChecks need.
const ResetChaosParts = nicspec.PartFlr | nicspec.PartMsix | nicspec.PartAttr

// ResetChaosChecks interrupt random programs by function-level resets, with messages and attributes in use. The referee
// judges whether work ends, whether nothing of it appears afterwards, and whether the device behaves as after power-up.
var ResetChaosChecks = func() []kit.Check {
	var all []kit.Check
	for seed := range uint64(9) {
		all = append(all, kit.Check{Name: fmt.Sprintf("chaos and resets/seed %d", seed), Rules: "L1 L2 L3 L4 L5 M3 P10",
			Stalls: []int{[]int{0, 20, 50}[seed%3]},
			Run:    func(r *kit.Rig) { resetChaos(r, seed) }})
	}
	return all
}()

func resetChaos(r *kit.Rig, seed uint64) {
	const lives = 5
	c := &chaosRun{Rig: r, rng: rand.New(rand.NewPCG(seed, 17))}
	for life := range lives {
		c.setUp()
		for range 40 {
			c.step()
			r.Run(c.rng.IntN(200))
		}
		if life+1 < lives {
			c.resetAtWork()
		}
	}
	c.Bed.Faults.Clear()
	r.Played()
	r.Run(2 * 2000)
}

// setUp writes registers, keys, rules and queues with random settings.
func (c *chaosRun) setUp() {
	r := c.Rig
	r.Write(nicspec.RegCplTimeout, 2000)
	r.Write(nicspec.RegCtrl, 3)
	r.Set(r.NIC.SetDeviceControl(driver.DeviceControl{
		MPS: 128 << c.rng.IntN(3), MRRS: 128 << c.rng.IntN(6), RelaxedOrdering: c.rng.IntN(2) > 0,
		NoSnoop: c.rng.IntN(2) > 0,
	}))
	c.w = []*kit.Window{r.Window(1, nicspec.EndpointArm, 1<<16), r.Window(2, nicspec.EndpointHost, 1<<16)}
	r.BadKeys(c.w[0])
	r.ByDest(0, 1, 2)
	for q := range chaosQueues {
		c.rx[q] = c.OpenRx(q, 2+c.rng.IntN(4), func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen = nicspec.SplitMode(c.rng.IntN(3)), uint16(c.rng.IntN(200))
			f.PayBufSize = uint16(500 + c.rng.IntN(8700))
			f.MsixAddr, f.MsixData = 0x7fee_0000+uint64(q)*4, uint32(q)
			f.ModCount, f.ModCycles = uint16(c.rng.IntN(4)), uint16(c.rng.IntN(3)*10)
		})
		c.open(false, q)
	}
}

// resetAtWork resets the device while entries and frames are in flight, and waits for the end of the reset.
func (c *chaosRun) resetAtWork() {
	var reset nicspec.CtrlReg
	reset.SetFlr(true)
	c.Write(nicspec.RegCtrl, uint32(reset))
	if c.rng.IntN(2) == 0 { // writes that are ignored during the reset
		c.Write(nicspec.RegScratch, 1)
		c.Write(nicspec.RegRxDoorbell(1), 3)
	}
	for range 2000 {
		if c.Read(nicspec.RegCtrl) == 0 {
			return
		}
	}
	c.T.Fatal("CTRL.flr reads 1 after 2,000 reads")
}
