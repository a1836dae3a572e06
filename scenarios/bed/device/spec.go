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
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/protocol"
)

// Kinds of NIC.
const (
	RTL   = "rtl"
	Model = "model"
)

// Spec describes a device.
type Spec struct {
	NIC     string // RTL or Model
	DUT     string // manifest of the device when NIC is RTL
	Variant string // build of the device: speed, debug
	// Link leads to the device through an emulation shell; nil: the device is simulated without one. A waveform shows
	// the device without its shell.
	Link   *emulation.Link
	Built  *build.Device // used instead of building DUT; may be nil
	Builds *Builds       // devices built so far, shared by the runs of a command; nil: not shared

	// Build gives the numbers of queues, keys and rules, and the optional parts. An RTL device is built with them; a
	// device that is given by Built or Connect must have been built with them. Nil: the default build for Model; for
	// RTL, what the manifest says.
	Build *nicspec.Build

	// Connect is the address of a running device, unix:PATH or tcp:A.B.C.D:PORT, used instead of building and
	// starting one; Token is its token, as 64 hexadecimal digits.
	Connect, Token string

	// PeriodPs is the period of the NIC's clock; 0: for RTL the period in the manifest, for Model 2,500 ps (400 MHz).
	PeriodPs simcore.Ps

	Ports   int // Ethernet ports of the NIC, up to board.MaxPorts; 0 means 1
	EthBits int // width of a port's stream, 256, 512 or 1024; 0: as the manifest or the default build says

	Quantum uint32 // cycles per exchange with an RTL device; 0: rtlbridge's default
	Serial  bool   // device and models do not run at the same time

	// Idle selects how the bridge handles cycles in which an RTL device is idle: evaluate or skip them.
	Idle protocol.IdleMode

	Digest bool      // fold an RTL device's events into Device.Digest
	Log    io.Writer // output of builds; may be nil
	Record io.Writer // receives the input stream of an RTL device, for playback

	Context context.Context // ends the wait for another process that builds the device; may be nil

	// Coverage is a folder for the RTL coverage, counted by a special build; empty: none is counted. A device adds to
	// it when it is closed.
	Coverage string

	Wave *Wave // waveform that an RTL device dumps; nil: none

	slot string // name of the board's slot for this device; empty if the board has only one
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
	if s.Link != nil && (s.NIC != RTL || s.Connect != "" || s.Coverage != "") {
		bad("link", ": only an RTL device that is started here has a shell around it, and none that counts %s",
			field.Path("coverage"))
	}
	if s.Connect != "" && s.NIC != RTL {
		bad("connect", "%s: a device that runs elsewhere is %s rtl", s.Connect, field.Path("nic"))
	}
	if _, err := s.token(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// token decodes Token. It is zero without Connect.
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
