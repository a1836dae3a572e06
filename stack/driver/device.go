package driver

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// Probe reads the NIC's sizes and parts and passes them to done; the driver uses them from then on. Software cannot see
// stream widths, so these stay as in the options.
func (d *Driver) Probe(done func(nicspec.Build)) {
	b := d.opts.Build
	d.ReadReg(nicspec.RegId, 4, func(v uint64) {
		if v != nicspec.DeviceMagic {
			d.check(fmt.Errorf("no NIC of this contract: ID reads %#x, want %#x", v, uint32(nicspec.DeviceMagic)))
		}
	})
	d.ReadReg(nicspec.RegVersion, 4, func(v uint64) {
		if v>>16 != nicspec.ContractVersion>>16 {
			d.check(fmt.Errorf("the NIC follows revision %d.%d of the contract: want revision %d.x (docs/nic.md, "+
				"section 20)", v>>16, v&0xffff, nicspec.ContractVersion>>16))
		}
	})
	d.ReadReg(nicspec.RegCap0, 4, func(v uint64) {
		c := nicspec.Cap0Reg(v)
		b.Ports, b.NumRxq, b.NumTxq = int(c.Ports()), 1<<c.LogRxq(), 1<<c.LogTxq()
		b.NumKeys, b.NumRules = 1<<c.LogKeys(), int(c.Rules())
	})
	d.ReadReg(nicspec.RegCap1, 4, func(v uint64) { b.Parts = nicspec.Cap1Reg(v) })
	d.Then(func() {
		if err := b.Validate(); err != nil {
			d.breach("B2", "CAP0 and CAP1 describe an impossible build: %v", err)
			return
		}
		d.opts.Build = b
		done(b)
	})
}

// Enable switches receiving and transmitting on or off: register CTRL.
func (d *Driver) Enable(rx, tx bool) {
	var c nicspec.CtrlReg
	c.SetRxEnable(rx)
	c.SetTxEnable(tx)
	d.Write32(nicspec.RegCtrl, uint32(c))
}

// Sync adds a command that ends when every register write requested before has reached the NIC.
func (d *Driver) Sync() { d.ReadReg(nicspec.RegCtrl, 4, nil) }

// DeviceControl holds the fields of register DEVCTL: limits and attributes of the NIC's requests. It may be changed at
// any time [P10].
type DeviceControl struct {
	MPS             int  // longest write, bytes: 128, 256 or 512
	MRRS            int  // longest read, bytes: 128, 256, ... 4096
	RCB128          bool // completions are split at multiples of 128 B, else 64 B [P12]
	RelaxedOrdering bool // set in requests that carry frame or copy data [P11]
	NoSnoop         bool // set in requests that carry frame or copy data [P11]
}

// ControlFor returns the DEVCTL settings for the limits of the roots behind the NIC, capped at the NIC's own.
func ControlFor(l tlp.Limits) DeviceControl {
	return DeviceControl{MPS: min(l.MPS, 512), MRRS: min(l.MRRS, tlp.PageBytes), RCB128: l.RCB == 2*nicspec.LineBytes}
}

// ResetControl returns the DEVCTL settings after reset.
func ResetControl() DeviceControl {
	r := nicspec.DevctlReg(nicspec.ResetDevctl)
	const least = 128 // smallest value of MPS and MRRS, encoded as 0 [P10]
	return DeviceControl{MPS: least << r.Mps(), MRRS: least << r.Mrrs(), RCB128: r.Rcb(),
		RelaxedOrdering: r.RelaxedOrdering(), NoSnoop: r.NoSnoop()}
}

// SetDeviceControl writes register DEVCTL.
func (d *Driver) SetDeviceControl(c DeviceControl) error {
	mps, mrrs := bits.Len(uint(c.MPS)/256), bits.Len(uint(c.MRRS)/256)
	if c.MPS != 128<<mps || mps > 2 {
		return fmt.Errorf("driver: MPS of %d B: want 128, 256 or 512", c.MPS)
	}
	if c.MRRS != 128<<mrrs || mrrs > 5 {
		return fmt.Errorf("driver: MRRS of %d B: want a power of two from 128 to 4096", c.MRRS)
	}
	if c.RelaxedOrdering || c.NoSnoop {
		if err := d.needPart(nicspec.PartAttr, "attributes of requests", "attr"); err != nil {
			return err
		}
	}
	var r nicspec.DevctlReg
	r.SetMps(uint32(mps))
	r.SetMrrs(uint32(mrrs))
	r.SetRcb(c.RCB128)
	r.SetRelaxedOrdering(c.RelaxedOrdering)
	r.SetNoSnoop(c.NoSnoop)
	d.Write32(nicspec.RegDevctl, uint32(r))
	return nil
}

// SetCompletionTimeout sets the number of cycles that the NIC waits for the completions of a read [P6].
func (d *Driver) SetCompletionTimeout(cycles uint32) error {
	const least = 1024
	if cycles < least {
		return fmt.Errorf("driver: completion timeout of %d cycles: want %d or more", cycles, least)
	}
	d.Write32(nicspec.RegCplTimeout, cycles)
	return nil
}

// SetRoCEPort sets the UDP destination port of RoCEv2 [H6].
func (d *Driver) SetRoCEPort(port uint16) { d.Write32(nicspec.RegRocePort, uint32(port)) }

// SetDrops sets which frames that fail a check are dropped instead of delivered, in register RX_CTRL [R4], [X5].
func (d *Driver) SetDrops(r nicspec.RxCtrlReg) error {
	if r.DropBadCrc32c() {
		if err := d.needPart(nicspec.PartCrc32c, "dropping by CRC-32C", "crc32c"); err != nil {
			return err
		}
	}
	d.Write32(nicspec.RegRxCtrl, uint32(r))
	return nil
}

// FunctionReset resets the NIC [L1]. Afterwards everything except the counters is as after power-up: every queue is
// off, as if disabled, and tables are empty.
func (d *Driver) FunctionReset(done func()) error {
	if err := d.needPart(nicspec.PartFlr, "function-level reset", "flr"); err != nil {
		return err
	}
	queues := d.queues() // queues opened later are enabled later
	for _, q := range queues {
		q.setDisabling()
	}
	var c nicspec.CtrlReg
	c.SetFlr(true)
	d.Write32(nicspec.RegCtrl, uint32(c))
	d.add(command{
		kind: cmdPoll, off: nicspec.RegCtrl, bytes: 4, what: "function-level reset: CTRL", rule: "L3",
		poll: func(v uint64) bool { return !nicspec.CtrlReg(v).Flr() },
	})
	for _, q := range queues {
		d.Await(q.drain)
	}
	d.Then(func() {
		for _, q := range queues {
			q.setOff()
		}
		if done != nil {
			done()
		}
	})
	return nil
}

// queues returns the open queues, receive queues first, by number.
func (d *Driver) queues() []*Queue {
	var all []*Queue
	for _, open := range []map[int]*Queue{d.rx, d.tx} {
		for _, i := range slices.Sorted(maps.Keys(open)) {
			all = append(all, open[i])
		}
	}
	return all
}
