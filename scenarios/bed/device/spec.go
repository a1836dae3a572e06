package device

import (
	"context"
	"encoding/hex"
	"errors"
	"io"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// Kinds of NIC.
const (
	RTL   = "rtl"
	Model = "model"
)

// Spec says which device is wanted.
type Spec struct {
	NIC     string        // RTL or Model
	DUT     string        // manifest of the device when NIC is RTL
	Variant string        // build of the device: speed, debug
	Built   *build.Device // used instead of building DUT; may be nil
	Builds  *Builds       // those of the whole command, DUT's among them when it is built; nil: none is kept

	// Build is the sizes and parts, but for the ports: those that are built, or those that Built or the device at
	// Connect has. Nil: the defaults when NIC is Model, else as the manifest has them.
	Build *nicspec.Build

	// Connect is the address of a device that runs already, unix:PATH or tcp:A.B.C.D:PORT, instead of one that is built
	// and started here; Token is its token, as 64 hexadecimal digits.
	Connect, Token string

	// PeriodPs is the period of the NIC's clock; 0: as the device's manifest has it, or 400 MHz when NIC is Model.
	PeriodPs simcore.Ps

	Ports   int // Ethernet ports of the NIC, up to board.MaxPorts; 0 is 1
	EthBits int // of the stream of a port, 256, 512 or 1024; 0: as the manifest, or Model, has it

	Quantum uint32 // cycles per exchange with an RTL device; 0 is the default
	Serial  bool   // no overlap of device and models

	// Idle says what becomes of cycles in which an RTL device stands still.
	Idle protocol.IdleMode

	Digest bool      // have an RTL device's events folded into Device.Digest
	Log    io.Writer // builds; nil is none
	Record io.Writer // gets the input stream of an RTL device, for playback

	Context context.Context // ends the wait for another process that builds the device; nil: nothing does

	// Coverage is a folder for what of the RTL was exercised, counted by a build for it; empty: nothing is counted. A
	// device adds to the folder when it is closed.
	Coverage string

	Wave *Wave // what an RTL device leaves as a waveform; nil: nothing

	slot string // in which it is to stand, where there are several
}

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(path field.Path, format string, a ...any) { errs = append(errs, field.Errorf(path, format, a...)) }
	if s.NIC != RTL && s.NIC != Model {
		bad("nic", "%q: want rtl or model", s.NIC)
	}
	if s.Ports < 0 || s.Ports > board.MaxPorts {
		bad("ports", "%d: want 1 to %d", s.Ports, board.MaxPorts)
	}
	if s.EthBits != 0 && !nicspec.ValidEthBits(s.EthBits) {
		bad("eth_bits", "%d: want %s", s.EthBits, nicspec.WantEthBits)
	}
	if s.PeriodPs != 0 {
		errs = append(errs, field.Under("period_ps", rtlbridge.ValidPeriod(s.PeriodPs)))
	}
	if s.Coverage != "" && (s.NIC != RTL || s.Connect != "") {
		bad("coverage", "%s: only an RTL device that is started here counts", s.Coverage)
	}
	if s.Wave != nil && (s.NIC != RTL || s.Connect != "" || s.Coverage != "") {
		bad("wave", ": only an RTL device that is started here leaves a waveform, without %s", field.Path("coverage"))
	}
	if s.Connect != "" && s.NIC != RTL {
		bad("connect", "%s: a device that runs elsewhere is %s rtl", s.Connect, field.Path("nic"))
	}
	if _, err := s.token(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// token reads Token; without Connect there is none.
func (s *Spec) token() (t [32]byte, err error) {
	if s.Connect == "" {
		return t, nil
	}
	b, err := hex.DecodeString(s.Token)
	if err != nil || len(b) != len(t) {
		return t, field.Errorf("token", "of the device at %s: want %d hexadecimal digits", s.Connect, 2*len(t))
	}
	return [32]byte(b), nil
}

func (s *Spec) ports() int { return max(s.Ports, 1) }
