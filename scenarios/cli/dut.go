package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"nictwin/rtlbridge"
	"nictwin/scenarios/bench"
	"nictwin/scenarios/board"
	"nictwin/scenarios/home"
)

// DUT is what is known of a device.
type DUT struct {
	Name     string              `json:"name"`
	Manifest string              `json:"manifest"`
	Top      string              `json:"top,omitempty"`
	Streams  []string            `json:"streams,omitempty"`
	Ports    []rtlbridge.PinPort `json:"ports,omitempty"`
	Built    *Built              `json:"built,omitempty"`
	Error    string              `json:"error,omitempty"`
}

// Built tells of a build.
type Built struct {
	Variant string  `json:"variant"`
	Hash    string  `json:"hash"`
	Binary  string  `json:"binary"`
	Cached  bool    `json:"cached"`
	TookS   float64 `json:"took_s"`
}

// shareHarness lets a manifest that lies elsewhere be built with the harness of the home that was named.
func shareHarness(homeFlag string) error {
	const env = "NICTWIN_HARNESS"
	if os.Getenv(env) != "" || homeFlag == "" && os.Getenv(home.Env) == "" {
		return nil
	}
	h, err := home.Find(homeFlag)
	if err != nil {
		return err
	}
	return os.Setenv(env, h.Harness())
}

// load reads the manifest of a device by name or path.
func load(dut, homeFlag string) (*rtlbridge.Manifest, DUT, error) {
	path, err := home.Resolve(dut, homeFlag)
	if err == nil {
		err = shareHarness(homeFlag)
	}
	if err != nil {
		return nil, DUT{Name: dut, Error: err.Error()}, &UsageError{err}
	}
	m, d, err := read(path)
	if err != nil {
		d.Name = dut
		return nil, d, &UsageError{err}
	}
	return m, d, nil
}

func read(path string) (*rtlbridge.Manifest, DUT, error) {
	m, err := rtlbridge.LoadManifest(path)
	if err != nil {
		return nil, DUT{Manifest: path, Error: err.Error()}, err
	}
	d := DUT{Name: m.Name, Manifest: path, Top: m.Top}
	for _, s := range m.Streams {
		d.Streams = append(d.Streams, s.Name)
	}
	return m, d, nil
}

// ListDUTs describes the devices at home. A manifest that cannot be read is in the list, with its error, and makes the
// error, too.
func ListDUTs(homeFlag string) ([]DUT, error) {
	h, err := home.Find(homeFlag)
	if err != nil {
		return nil, err
	}
	names, err := h.DUTs()
	if err != nil {
		return nil, err
	}
	var list []DUT
	var errs []error
	for _, n := range names {
		_, d, err := read(h.Path(n))
		d.Name = n // by which it is found
		list = append(list, d)
		if err != nil {
			errs = append(errs, &UsageError{err})
		}
	}
	return list, errors.Join(errs...)
}

// BuildDUT compiles a device, or finds it in the cache.
func BuildDUT(dut, homeFlag, variant string, log io.Writer) (DUT, error) {
	if v := rtlbridge.Variant(variant); v != rtlbridge.VariantSpeed && v != rtlbridge.VariantDebug &&
		v != rtlbridge.VariantWaves && v != rtlbridge.VariantCoverage {
		return DUT{Name: dut}, Usagef("--variant %q: want speed, debug, waves or coverage (dut tune makes tuned builds)", variant)
	}
	m, d, err := load(dut, homeFlag)
	if err != nil {
		return d, err
	}
	b, err := rtlbridge.Build(m, rtlbridge.BuildOptions{Variant: rtlbridge.Variant(variant), Log: log})
	if err != nil {
		d.Error = err.Error()
		return d, fmt.Errorf("%s: %w", dut, err)
	}
	d.Built = built(b)
	return d, nil
}

func built(b *rtlbridge.Device) *Built {
	return &Built{string(b.Variant), b.HashString(), b.Binary, b.Cached, b.Took.Seconds()}
}

// TuneDUT makes the tuned build of a NIC with so many Ethernet ports, or finds it in the cache.
func TuneDUT(ctx context.Context, dut, homeFlag string, ports int, log io.Writer) (DUT, error) {
	m, d, err := load(dut, homeFlag)
	if err == nil && (ports < 1 || ports > board.MaxPorts) {
		err = Usagef("--ports %d: want 1 to %d", ports, board.MaxPorts)
	}
	if err == nil {
		if err = board.IsNIC(m); err != nil {
			err = &UsageError{fmt.Errorf("%w: it cannot be trained with frames", err)}
		}
	}
	if err != nil {
		return d, err
	}
	b, err := bench.Tune(ctx, m.Path, ports, log)
	if err != nil {
		d.Error = err.Error()
		return d, fmt.Errorf("%s: %w", dut, err)
	}
	d.Built = built(b)
	return d, nil
}

// CheckDUT lints a device with every warning on and binds its manifest to its ports.
func CheckDUT(dut, homeFlag string) (DUT, error) { return check(dut, homeFlag, true) }

// PortsOfDUT reads the ports of a device's top module. It may return them together with an error: they do not fit the
// manifest then.
func PortsOfDUT(dut, homeFlag string) (DUT, error) { return check(dut, homeFlag, false) }

func check(dut, homeFlag string, lint bool) (DUT, error) {
	m, d, err := load(dut, homeFlag)
	if err != nil {
		return d, err
	}
	if d.Ports, err = rtlbridge.Check(m, lint); err != nil {
		d.Error = err.Error()
		return d, fmt.Errorf("%s: %w", dut, err)
	}
	return d, nil
}
