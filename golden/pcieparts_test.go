package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// pcieParts are the optional parts of the PCIe side.
const pcieParts = nicspec.PartAttr | nicspec.PartMsix | nicspec.PartFlr

// vector draws the MSI-X vector of queue number v: an address of its own, a shared one, or none.
func (c *chaos) vector(v int) (addr uint64, data uint32, count, cycles uint16) {
	if c.opt.parts&nicspec.PartMsix == 0 || c.rng.IntN(6) == 0 {
		return 0, 0, 0, 0
	}
	if c.rng.IntN(3) == 0 {
		v = 9
	}
	return msgAddr(v), msgData, uint16(c.rng.IntN(6)), uint16(c.rng.IntN(3) * c.rng.IntN(40))
}

// usePcieParts now and then changes DEVCTL (part attr) or resets the device (part flr) during the run.
func (c *chaos) usePcieParts() {
	if c.opt.parts&nicspec.PartAttr != 0 && c.opt.config && c.rng.IntN(2) == 0 {
		c.m.Write32(nicspec.RegDevctl, uint32(c.rng.IntN(8)|c.rng.IntN(8)<<4|c.rng.IntN(8)<<8))
	}
	if c.opt.parts&nicspec.PartFlr != 0 && c.rng.IntN(10) == 0 {
		c.resetAll()
	}
}

// resetAll resets the device while everything is under way, and configures it again.
func (c *chaos) resetAll() {
	m := c.m
	m.Write32(nicspec.RegCtrl, flrBit)
	for range c.rng.IntN(4) {
		m.Write32(nicspec.RegScratch, 5)
		m.Write32(nicspec.RegRxDoorbell(c.rng.IntN(4)), c.rng.Uint32())
		if c.rng.IntN(2) == 0 {
			c.send()
		}
		if c.rng.IntN(2) == 0 {
			m.Reg([]uint32{nicspec.RegScratch, nicspec.RegTblCmd, nicspec.RegDevctl,
				nicspec.RegTblData(3)}[c.rng.IntN(4)], 1)
		}
	}
	for range 1000 {
		if m.Reg(nicspec.RegCtrl, 1) == 0 {
			c.rx, c.tx = [chaosQueues]chaosRing{}, [chaosQueues]chaosRing{}
			c.begin()
			return
		}
	}
	c.r.t.Fatal("a function-level reset does not end")
}

const flrBit = 1 << 31

func TestChaosWithPcieParts(t *testing.T) {
	chaosPasses(t, upTo(chaosSeeds), chaosOpt{steps: 300, parts: pcieParts}, nil,
		func(t *testing.T, c *chaos, _ *Stats) {
			require.NotZero(t, c.r.nic.Regs().Dev(nicspec.CntMsix))
		})
}

// A device with all parts is used at random and reset; the referee must find nothing. The extra seeds once failed.
func TestChaosWithAllParts(t *testing.T) {
	o := chaosOpt{steps: 300, parts: pcieParts | rxParts, copies: true, pushes: true}
	chaosPasses(t, append(upTo(chaosSeeds), 85, 189, 257), o, nil, func(t *testing.T, _ *chaos, s *Stats) {
		require.NotZero(t, s.Compared)
	})
}
