package host

import (
	"errors"
	"fmt"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/memlink"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/private"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host/dsa"
	"nictwin/models/server/host/iio"
	"nictwin/models/server/host/sockets"
	"nictwin/models/sim/field"
)

// Spec configures a server. All sockets are identical.
type Spec struct {
	Sockets     int    `yaml:"sockets"`
	Base        uint64 `yaml:"base"`         // bus address of the first socket's memory
	SocketBytes uint64 `yaml:"socket_bytes"` // of each socket's memory

	CPU     cpu.Spec       `yaml:"cpu"`
	TLB     tlb.Spec       `yaml:"tlb"`
	Private private.Spec   `yaml:"private"`
	LLC     *armcache.Spec `yaml:"llc"` // nil: none, devices and cores share only the DRAM
	DRAM    dram.Spec      `yaml:"dram"`
	Link    memlink.Spec   `yaml:"link"` // between sockets
	IIO     iio.Spec       `yaml:"iio"`
	DSA     *dsa.Spec      `yaml:"dsa"` // copy engine of each socket; nil: none
}

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	errs := []error{
		field.Under("cpu", s.CPU.Validate()), field.Under("tlb", s.TLB.Validate()),
		field.Under("private", s.Private.Validate()),
		field.Under("dram", s.DRAM.Validate()), field.Under("iio", s.IIO.Validate()),
		sockets.Spec{Base: s.Base, SocketBytes: s.SocketBytes, Link: s.Link}.Validate(),
	}
	if s.Sockets < 1 || s.Sockets > 8 {
		errs = append(errs, field.Errorf("sockets", "%d: want 1 to 8", s.Sockets))
	}
	if s.LLC != nil {
		errs = append(errs, field.Under("llc", s.LLC.Validate()))
	}
	if s.DSA != nil {
		errs = append(errs, field.Under("dsa", s.DSA.Validate()))
	}
	return errors.Join(errs...)
}

// Preset returns a machine by name ("host-fn", "host-op", "host-ce", "host-rb": two sockets; "bf3",
// "bf2": the Arm side of a card), with the given page size, 4 GB of memory per socket from base on,
// and the page tables at the end of the first socket's. The parts' presets give the sources of the
// values.
func Preset(name string, base uint64, pageBytes int64) (Spec, error) {
	s := Spec{Sockets: 2, Base: base, SocketBytes: 4 << 30, IIO: iio.DefaultSpec()}
	var errs [6]error
	s.CPU, errs[0] = cpu.Preset(name)
	s.TLB, errs[1] = tlb.Preset(name, pageBytes)
	s.Private, errs[2] = private.Preset(name)
	s.DRAM, errs[3] = dram.Preset(name)
	if name == "bf2" || name == "bf3" {
		s.Sockets = 1
	} else {
		s.Link, errs[4] = sockets.LinkPreset(name)
	}
	if name != "bf2" {
		llc, err := armcache.Preset(name)
		s.LLC, errs[5] = &llc, err
	}
	if err := errors.Join(errs[:]...); err != nil {
		return Spec{}, fmt.Errorf("host: %w", err)
	}
	s.TLB.Covers = s.SocketBytes * uint64(s.Sockets)
	s.TLB.Tables = base + (s.SocketBytes-s.TLB.TableBytes())&^4095
	return s, nil
}
