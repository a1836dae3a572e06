package etherlink

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Mode selects when a frame may begin to leave.
type Mode string

// Values of Mode.
const (
	CutThrough   Mode = "cut-through"       // a frame may leave while it is still arriving
	StoreForward Mode = "store-and-forward" // a frame may leave after its last bit has come
)

// Spec configures a Switch.
type Spec struct {
	Ports   int          `yaml:"ports"`
	Mode    Mode         `yaml:"mode"`
	Latency simcore.Ps   `yaml:"latency_ps"`  // see the package comment
	Longest int          `yaml:"frame_bytes"` // longest frame accepted
	ClassBy core.ClassBy `yaml:"class_by"`

	BufferBytes int                     `yaml:"buffer_bytes"`
	Alpha       float64                 `yaml:"alpha"` // each queue without PFC may use this multiple of the free bytes
	Classes     [core.Classes]ClassSpec `yaml:"classes"`

	MAC      core.MAC `yaml:"mac"`          // source of its pause frames; the port number is added to the last byte
	Quanta   uint16   `yaml:"pause_quanta"` // duration that a pause frame asks for, in units of 512 bit times
	Learning bool     `yaml:"learning"`
	TableLen int      `yaml:"table_entries"`

	Table []core.Entry `yaml:"table"` // static entries
	LAGs  [][]int      `yaml:"lags"`  // groups of ports that form one link
	Seed  uint64       `yaml:"seed"`  // of marks, and of the hash over a LAG
}

// ClassSpec configures a class; it applies to every port.
type ClassSpec struct {
	Weight int      `yaml:"weight"` // 0: strict priority over all classes with a weight
	ECN    core.ECN `yaml:"ecn"`
	PFC    core.PFC `yaml:"pfc"`
}

// RoCEClass is the class of RoCE in Default: DSCP 26 (assumption: vendors' guides for RoCE set
// hosts up so).
const RoCEClass = 3

// MaxPorts is the largest number of ports of a switch.
const MaxPorts = 64

// Default returns a switch with the given number of ports that learns addresses and takes the class
// from the DSCP: class 3 is for RoCE, with ECN and PFC, the others are best effort.
//
// Sources: Latency 90 ns, cutting through: with two cables 0.11 µs one way (docs/etherlink.md; assumption).
// BufferBytes 16 MiB: switch chips with ports of 100 Gbps (Spectrum, Tomahawk) have 16 MB; that it is one pool, Alpha
// 1, and TableLen 32 Ki: assumption. ECN: Kmin 5 KB, Kmax 200 KB, Pmax 1% (DCQCN, SIGCOMM 2015, its table of
// parameters, at 40 Gbps; that they hold at 200 Gbps is an assumption). PFC: Xoff 96 KiB, Xon 64 KiB: assumption.
// Headroom 64 KiB: after Xoff is crossed there still arrive at most a frame of 9,240 B before the pause frame leaves,
// its own 84 B, another frame that the peer has begun, and the rate times two latencies of link and pipeline: 24 KB
// at 200 Gbps with 10 ns of cable, and still enough with 800 ns each way. Quanta 65,535, the longest. MAC: locally
// administered, our choice.
func Default(ports int) Spec {
	s := Spec{
		Ports: ports, Mode: CutThrough, Latency: 90 * simcore.Nanosecond, Longest: ether.MaxLen, ClassBy: core.ByDSCP,
		BufferBytes: 16 << 20, Alpha: 1, MAC: core.MAC{0x02, 0, 0, 0, 0xee, 0}, Quanta: 0xffff, Learning: true,
		TableLen: 32 << 10, Seed: 1,
	}
	for c := range s.Classes {
		s.Classes[c].Weight = 1
	}
	s.Classes[RoCEClass].ECN = core.ECN{KminBytes: 5_000, KmaxBytes: 200_000, Pmax: 0.01}
	s.Classes[RoCEClass].PFC = core.PFC{XoffBytes: 96 << 10, XonBytes: 64 << 10, HeadroomBytes: 64 << 10}
	return s
}

// pfc returns the PFC settings of all classes.
func (s *Spec) pfc() (p [core.Classes]core.PFC) {
	for c := range p {
		p[c] = s.Classes[c].PFC
	}
	return p
}

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, got any, want string, against ...field.Path) {
		if !ok {
			errs = append(errs, field.Against(field.Errorf(path, "%v: want %s", got, want), against...))
		}
	}
	const most = 1 << 30
	bad(s.Ports >= 2 && s.Ports <= MaxPorts, "ports", s.Ports, fmt.Sprintf("2 to %d", MaxPorts))
	bad(s.Mode == CutThrough || s.Mode == StoreForward, "mode", fmt.Sprintf("%q", string(s.Mode)),
		"cut-through or store-and-forward")
	bad(s.Latency >= 1 && s.Latency <= 100*simcore.Millisecond, "latency_ps", int64(s.Latency), "1 ps to 100 ms")
	bad(s.Longest >= ether.MinLen && s.Longest <= ether.MaxOffered, "frame_bytes", s.Longest,
		fmt.Sprintf("%d to %d", ether.MinLen, ether.MaxOffered))
	known := s.ClassBy == core.ByDSCP || s.ClassBy == core.ByPCP || s.ClassBy == core.ByNone
	bad(known, "class_by", fmt.Sprintf("%q", string(s.ClassBy)), "dscp, pcp or none")
	bad(s.BufferBytes >= s.Longest && s.BufferBytes <= most, "buffer_bytes", s.BufferBytes, "frame_bytes to 2^30",
		"frame_bytes")
	bad(s.Alpha > 0 && s.Alpha <= 1024, "alpha", s.Alpha, "more than 0, up to 1024")
	bad(s.Quanta > 0, "pause_quanta", s.Quanta, "1 to 65535")
	bad(s.TableLen >= 1 && s.TableLen <= 1<<20, "table_entries", s.TableLen, "1 to 2^20")
	bad(len(s.Table) <= s.TableLen, "table", fmt.Sprintf("%d entries", len(s.Table)), "at most table_entries",
		"table_entries")
	for i, e := range s.Table {
		bad(e.Port >= 0 && e.Port < s.Ports, field.Path(fmt.Sprintf("table[%d].port", i)), e.Port,
			"one of its ports, from 0")
	}
	for i := range s.Classes {
		errs = append(errs,
			field.Against(field.Under(field.Path(fmt.Sprintf("classes[%d]", i)), s.Classes[i].validate(s.Longest)),
				"frame_bytes"))
	}
	pfc := s.pfc()
	if kept := core.Reserved(s.Ports, &pfc); kept > s.BufferBytes {
		bad(false, "buffer_bytes", s.BufferBytes, fmt.Sprintf("%d or more: xoff_bytes and headroom_bytes of every "+
			"class with PFC at each port", kept), "ports", "classes")
	}
	_, err := core.NewTable(s.TableLen, s.Learning, s.Table)
	return errors.Join(append(errs, s.validateLAGs(), err)...)
}

func (c *ClassSpec) validate(longest int) error {
	var errs []error
	bad := func(ok bool, path field.Path, got any, want string) {
		if !ok {
			errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
		}
	}
	const most = 1 << 28
	bad(c.Weight >= 0 && c.Weight <= 1<<10, "weight", c.Weight, "0 (strict) to 1024")
	e, p := &c.ECN, &c.PFC
	bad(e.KmaxBytes >= 0 && e.KmaxBytes <= most, "ecn.kmax_bytes", e.KmaxBytes, "0 (no marks) to 2^28")
	bad(e.KminBytes >= 0 && e.KminBytes <= e.KmaxBytes, "ecn.kmin_bytes", e.KminBytes, "0 to kmax_bytes")
	bad(e.Pmax >= 0 && e.Pmax <= 1, "ecn.pmax", e.Pmax, "a probability from 0 to 1")
	bad(p.XoffBytes >= 0 && p.XoffBytes <= most, "pfc.xoff_bytes", p.XoffBytes, "0 (no PFC) to 2^28")
	if p.XoffBytes == 0 {
		bad(p.XonBytes == 0 && p.HeadroomBytes == 0, "pfc.xoff_bytes", 0,
			"more than 0 with xon_bytes or headroom_bytes")
		return errors.Join(errs...)
	}
	bad(p.XonBytes >= 0 && p.XonBytes <= p.XoffBytes, "pfc.xon_bytes", p.XonBytes, "0 to xoff_bytes")
	bad(p.HeadroomBytes >= longest && p.HeadroomBytes <= most, "pfc.headroom_bytes", p.HeadroomBytes,
		"frame_bytes to 2^28")
	return errors.Join(errs...)
}

func (s *Spec) validateLAGs() error {
	var errs []error
	in := map[int]bool{}
	for i, lag := range s.LAGs {
		path := field.Path(fmt.Sprintf("lags[%d]", i))
		if len(lag) == 0 {
			errs = append(errs, field.Errorf(path, "empty: want the ports that are one link"))
		}
		for _, p := range lag {
			if p < 0 || p >= s.Ports || in[p] {
				errs = append(errs, field.Errorf(path, "port %d: want one of its ports, from 0, in one LAG only", p))
			}
			in[p] = true
		}
	}
	return errors.Join(errs...)
}

// PresetNames lists the names that Preset takes.
var PresetNames = []string{string(CutThrough), string(StoreForward)}

// Preset returns Default in the mode of the given name, without ports.
func Preset(name string) (Spec, error) {
	if !slices.Contains(PresetNames, name) {
		return Spec{}, fmt.Errorf("etherlink: preset is %q: want one of %q", name, PresetNames)
	}
	s := Default(0)
	s.Mode = Mode(name)
	return s, nil
}
