package device

import (
	"cmp"
	"errors"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
)

// Device is a NIC of any kind that also reports its build, the digest of its events and the wall time spent in it.
type Device interface {
	board.NIC
	Build() string  // hash of the RTL build; empty for the model
	Digest() uint64 // of all events, the same as that of build.Playback; 0 without Spec.Digest
	Wall() rtlbridge.Wall
}

// Opened is a device that was built and started, or connected to, and is not yet in its slot.
type Opened struct {
	spec   Spec
	conn   *rtlbridge.Conn // nil for the model
	built  *build.Device   // nil for the model and for remote devices
	period simcore.Ps
	nic    Device // set once it is in its slot
}

// Open builds the device, or finds it in the cache, and starts it; or it connects to a remote one. The caller must
// Close it, unless a board closes the NIC.
func Open(s Spec) (*Opened, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	o := &Opened{spec: s, period: cmp.Or(s.PeriodPs, simcore.DefaultPeriodPs)}
	if s.NIC == Model {
		return o, nil
	}
	var err error
	if o.conn, o.built, err = s.open(); err != nil {
		return nil, err
	}
	o.period = cmp.Or(s.PeriodPs, simcore.Ps(o.conn.Hello().PeriodPs))
	return o, nil
}

// Period returns the period of the NIC's clock.
func (o *Opened) Period() simcore.Ps { return o.period }

// NIC puts the device into a slot. As a board.Factory it may be called once.
func (o *Opened) NIC(s board.Slot) (board.NIC, error) {
	if o.nic != nil {
		return nil, errors.New("device: it stands in a slot already")
	}
	s.Period = cmp.Or(s.Period, o.period)
	var err error
	if o.spec.NIC == Model {
		o.nic, err = o.spec.newModel(s)
	} else {
		o.nic, err = o.newRTL(s)
	}
	return o.nic, err
}

// Device returns the NIC once it is in its slot.
func (o *Opened) Device() Device { return o.nic }

// Close ends a device that is in no slot.
func (o *Opened) Close() error {
	if o.conn == nil || o.nic != nil {
		return nil
	}
	return o.conn.Close()
}
