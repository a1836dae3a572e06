package device

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"

	"nictwin/rtlbridge/manifest"
)

// NICError reports a device that is not a NIC.
type NICError struct {
	Name string // name of the device
	What string // stream or signal that the device lacks
}

func (e *NICError) Error() string { return e.Name + ": " + e.What }

var _ error = (*NICError)(nil)

// IsNIC returns nil for a device with the streams and the busy signal of a NIC, else a *NICError that names what is
// missing.
func IsNIC(m *manifest.Manifest) error {
	var lacks []string
	for _, want := range []struct{ name, dir string }{
		{streamEthIn, manifest.DirIn}, {streamEthOut, manifest.DirOut},
		{streamTLPIn, manifest.DirIn}, {streamTLPOut, manifest.DirOut},
	} {
		if !slices.ContainsFunc(m.Streams, func(s manifest.Stream) bool {
			return s.Name == want.name &&
				s.Dir == want.dir
		}) {
			lacks = append(lacks, fmt.Sprintf("%s (%s)", want.name, want.dir))
		}
	}
	if len(lacks) > 0 {
		return &NICError{m.Name, fmt.Sprintf("no stream %s: this device is no NIC", strings.Join(lacks, ", "))}
	}
	if m.Busy == "" {
		return &NICError{m.Name, "no busy signal: a NIC has one [B8], which its manifest observes and names as busy"}
	}
	return nil
}

// Eth overrides the Ethernet parameters of a NIC's manifest [B2]: number of ports and width of their streams. A field
// that is 0 keeps the manifest's value.
type Eth struct {
	Ports int
	Bits  int // width of a port's stream
}

// Of returns the manifest of a NIC with its parameters set for these ports [B2] [B3].
func (e Eth) Of(m *manifest.Manifest) (*manifest.Manifest, error) {
	w, err := m.Widen(paramPorts, max(e.Ports, 1), streamEthIn, streamEthOut)
	if err != nil || e.Bits == 0 {
		return w, err
	}
	return w.With(paramEthBits, e.Bits)
}

// Build builds the device of a manifest with these Ethernet ports, or finds it in the cache. Canceling ctx ends the
// wait for another process that builds it.
func Build(ctx context.Context, path, variant string, eth Eth, log io.Writer) (*build.Device, error) {
	m, err := manifest.Load(path)
	if err != nil {
		return nil, err
	}
	return BuildOf(ctx, m, variant, eth, log)
}

// BuildOf builds like Build, from a manifest that was already read.
func BuildOf(ctx context.Context, m *manifest.Manifest, variant string, eth Eth, log io.Writer) (*build.Device, error) {
	return BuildBehind(nil)(ctx, m, variant, eth, log)
}

// BuildBehind returns a function that builds like BuildOf, behind a link; nil: without one.
func BuildBehind(link *emulation.Link) func(ctx context.Context, m *manifest.Manifest, variant string, eth Eth,
	log io.Writer) (*build.Device, error) {
	return func(ctx context.Context, m *manifest.Manifest, variant string, eth Eth, log io.Writer) (*build.Device,
		error) {
		m, err := eth.Of(m)
		if err != nil {
			return nil, err
		}
		return link.Build(m, build.Options{Variant: build.Variant(variant), Log: log, Context: ctx})
	}
}

// Sized returns the manifest of a NIC with its parameters set to these numbers of queues, keys and rules, and these
// parts [B2].
func Sized(m *manifest.Manifest, sizes *nicspec.Build) *manifest.Manifest {
	w := *m
	w.Parameters = maps.Clone(m.Parameters)
	for name, n := range map[string]int{"NumRxq": sizes.NumRxq, "NumTxq": sizes.NumTxq, "NumKeys": sizes.NumKeys,
		"NumRules": sizes.NumRules} {
		w.Parameters[name] = strconv.Itoa(n)
	}
	if sizes.Parts != nicspec.PartsDefault {
		w.Parameters["Parts"] = strconv.Itoa(int(sizes.Parts))
	}
	return &w
}

func (s *Spec) device() (*build.Device, error) {
	if s.Built != nil && s.Wave == nil {
		return s.Built, nil
	}
	return s.Builds.get(s, s.build)
}

// build builds the device that the spec names, or finds it in the cache.
func (s *Spec) build() (*build.Device, error) {
	if _, err := os.Stat(s.DUT); err != nil {
		return nil, field.Errorf("dut", ": %w", err)
	}
	variant := s.Variant
	if s.Coverage != "" {
		variant = string(build.VariantCoverage)
	}
	if s.Wave != nil {
		variant = string(build.VariantWaves)
	}
	m, err := manifest.Load(s.DUT)
	if err != nil {
		return nil, err
	}
	if s.Build != nil {
		m = Sized(m, s.Build)
	}
	link := s.Link
	if s.Wave != nil {
		link = nil
	}
	return BuildBehind(link)(s.Context, m, variant, Eth{s.ports(), s.EthBits}, s.Log)
}

// sameBuild reports whether the sizes and parts of an RTL device equal those that a slot requires. It ignores ports,
// which other code checks.
func (s *Spec) sameBuild(slot *nicspec.Build) bool {
	have, want := nicspec.DefaultBuild(), *slot
	if s.Build != nil {
		have = *s.Build
	}
	have.Ports, have.EthBits = want.Ports, want.EthBits
	return have == want
}
