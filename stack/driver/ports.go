package driver

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// PortConfig is a port's flow control [F2], [F6].
type PortConfig struct {
	HonourPause   bool  // 802.3x pause frames stop the port
	HonourClasses uint8 // priority pauses stop these classes, class i in bit i

	Send    nicspec.PauseMode // pause frames that the NIC sends
	Classes uint8             // mode Priority: classes to pause
	Quanta  uint16            // pause time in units of 512 bit times
	XOff    int               // pause when the receive buffer holds more bytes than this
	XOn     int               // end the pause when the receive buffer holds no more than this
}

// Validate returns every error of the configuration [F7].
func (c *PortConfig) Validate() error {
	if c.Send > nicspec.PauseModePriority {
		return fmt.Errorf("driver: pause mode %v: want None, Pause or Priority", c.Send)
	}
	if c.Send == nicspec.PauseModeNone {
		return nil
	}
	var errs []error
	if c.Quanta < nicspec.PauseTimeMin {
		errs = append(errs, fmt.Errorf("driver: pause time of %d quanta: want %d or more", c.Quanta,
			nicspec.PauseTimeMin))
	}
	if c.XOn < 0 || c.XOn >= c.XOff || c.XOff > nicspec.RxBufBytes {
		errs = append(errs, fmt.Errorf("driver: pause from %d bytes on until %d: want 0 <= XOn < XOff <= %d", c.XOff,
			c.XOn, nicspec.RxBufBytes))
	}
	return errors.Join(errs...)
}

// SetPort sets a port's flow control. It may end pauses in force on the port.
func (d *Driver) SetPort(port int, c PortConfig) error {
	err := errors.Join(d.needPart(nicspec.PartPause, "flow control", "pause"),
		checkIndex("port", port, d.opts.Build.Ports), c.Validate())
	if err != nil {
		return err
	}
	f := nicspec.PortEntryFields{
		RxPfc: c.HonourClasses, TxMode: c.Send, TxClasses: c.Classes, PauseTime: c.Quanta, Xoff: uint32(c.XOff),
		Xon: uint32(c.XOn),
	}
	if c.HonourPause {
		f.RxPause = 1
	}
	var entry [nicspec.PortEntrySize]byte
	f.Encode(entry[:])
	return d.WriteTable(nicspec.TablePortCfg, port, entry[:])
}

// SetPortMAC sets the source address of a port's pause frames.
func (d *Driver) SetPortMAC(port int, mac [6]byte) error {
	if err := errors.Join(d.needPart(nicspec.PartPause, "address of pause frames", "pause"),
		checkIndex("port", port, d.opts.Build.Ports)); err != nil {
		return err
	}
	d.Write32(nicspec.RegPortMac(2*port), uint32(mac[0])|uint32(mac[1])<<8|uint32(mac[2])<<16|uint32(mac[3])<<24)
	d.Write32(nicspec.RegPortMac(2*port+1), uint32(mac[4])|uint32(mac[5])<<8)
	return nil
}
