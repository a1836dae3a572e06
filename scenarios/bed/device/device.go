package device

import (
	"cmp"
	"errors"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
)

// Device is a NIC of any kind, with what is known of it beyond its boundary.
type Device interface {
	board.NIC
	Build() string  // hash of the RTL build, empty for the model
	Digest() uint64 // of all events, as rtlbridge.Playback's; 0 unless Spec.Digest was set
	Wall() rtlbridge.Wall
}

// Opened is a device that was built and started, or reached, and waits for its slot.
type Opened struct {
	spec   Spec
	conn   *rtlbridge.Conn // nil for the model
	built  *build.Device   // nil for the model and for what runs elsewhere
	period simcore.Ps
	nic    Device // once it stands in its slot
}

// Open builds the device, or finds it in the cache, and starts it; or reaches the one that runs elsewhere. The caller
// must Close it, unless a board does with the NIC.
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

// Period is that of the NIC's clock.
func (o *Opened) Period() simcore.Ps { return o.period }

// NIC puts the device into a slot; it is a board.Factory, for one call.
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

// Device is the NIC, once it stands in its slot.
func (o *Opened) Device() Device { return o.nic }

// Close ends a device that stands in no slot.
func (o *Opened) Close() error {
	if o.conn == nil || o.nic != nil {
		return nil
	}
	return o.conn.Close()
}
