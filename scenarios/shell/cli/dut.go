package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bench"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/play"
	"nictwin/scenarios/shell/files"
)

// load reads the manifest of a device, given by name or path, for a build with the Ethernet ports in Eth.
func (b *DUTBuild) load(dut string) (*manifest.Manifest, result.DUT, error) {
	eth := b.Eth
	path, m, err := b.manifest(dut)
	if err == nil && (eth.Ports < 0 || eth.Ports > board.MaxPorts) {
		err = fmt.Errorf("--ports %d: want 1 to %d", eth.Ports, board.MaxPorts)
	}
	if err == nil && eth.Bits != 0 && !nicspec.ValidEthBits(eth.Bits) {
		err = fmt.Errorf("--eth-bits %d: want %s", eth.Bits, nicspec.WantEthBits)
	}
	if err == nil {
		m, err = resized(m, eth)
	}
	if err != nil {
		return nil, result.DUT{Name: dut, Manifest: path, Error: err.Error()}, &UsageError{err}
	}
	return m, describe(m), nil
}

func describe(m *manifest.Manifest) result.DUT {
	d := result.DUT{Name: m.Name, Manifest: m.Path, Top: m.Top}
	for _, s := range m.Streams {
		d.Streams = append(d.Streams, s.Name)
	}
	return d
}

// ListDUTs describes the devices of the home. If a manifest cannot be read, its device is listed with the error, and
// ListDUTs returns an error, too.
func ListDUTs(p *Place) ([]result.DUT, error) {
	h, err := p.find()
	if err != nil {
		return nil, err
	}
	names, err := h.DUTs()
	if err != nil {
		return nil, err
	}
	var list []result.DUT
	var errs []error
	for _, n := range names {
		m, err := manifest.Load(h.Path(n))
		d := result.DUT{Manifest: h.Path(n)}
		if err == nil {
			d = describe(m)
		} else {
			d.Error = err.Error()
			errs = append(errs, &UsageError{err})
		}
		d.Name = n // name by which it is found, whatever the manifest says
		list = append(list, d)
	}
	here, err := localDUTs(h.Dir)
	return append(list, here...), errors.Join(append(errs, err)...)
}

// localDUTs describes the devices in the working folder and its subfolders, named after their folders. It skips the
// home. A manifest that cannot be read may be work in progress, so it is only listed with its error.
func localDUTs(home string) (list []result.DUT, err error) {
	dir, err := os.Getwd()
	if err != nil || dir == home || strings.HasPrefix(dir, home+string(filepath.Separator)) {
		return nil, err
	}
	paths, err := filepath.Glob("*/" + ManifestFile)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(ManifestFile); err == nil {
		paths = append([]string{ManifestFile}, paths...)
	}
	for _, p := range paths {
		d := result.DUT{Manifest: p}
		if m, err := manifest.Load(p); err == nil {
			d = describe(m)
		} else {
			d.Error = err.Error()
		}
		d.Name = "."
		if p != ManifestFile {
			d.Name = "./" + filepath.Dir(p)
		}
		list = append(list, d)
	}
	return list, nil
}

// DUTBuild holds the settings for building or checking a device.
type DUTBuild struct {
	Place
	Variant string
	Eth     device.Eth // Ethernet ports of a NIC
	DryRun  bool       // build nothing, only look for the build in the cache
	Log     io.Writer  // nil: none
}

// Build compiles a device, or finds its build in the cache.
func (b *DUTBuild) Build(ctx context.Context, dut string) (result.DUT, error) {
	v := build.Variant(b.Variant)
	if v != build.VariantSpeed && v != build.VariantDebug && v != build.VariantWaves && v != build.VariantCoverage {
		return result.DUT{Name: dut}, Usagef("--variant %q: want speed, debug, waves or coverage (dut tune makes "+
			"tuned builds)", b.Variant)
	}
	return b.with(dut, func(m *manifest.Manifest, d *result.DUT) error {
		do := build.Build
		if b.DryRun {
			do = build.Lookup
		}
		dev, err := do(m, build.Options{Variant: v, Log: b.Log, Context: ctx})
		if err == nil {
			d.Built = built(dev)
		}
		return err
	})
}

func built(b *build.Device) *result.Built {
	return &result.Built{Variant: string(b.Variant), Hash: b.HashString(), Binary: b.Binary, Cached: b.Cached,
		TookS: b.Took.Seconds()}
}

// Tune makes the tuned build of a NIC, or finds it in the cache.
func (b *DUTBuild) Tune(ctx context.Context, dut string) (result.DUT, error) {
	return b.with(dut, func(m *manifest.Manifest, d *result.DUT) error {
		if err := device.IsNIC(m); err != nil {
			return &UsageError{fmt.Errorf("%w: it cannot be trained with frames", err)}
		}
		dev, err := bench.Tune(ctx, m.Path, b.Eth, b.Log)
		if err == nil {
			d.Built = built(dev)
		}
		return err
	})
}

// Check binds a device's manifest to its ports, and lints the design with every warning on; warnings are reported but
// are no error. If the manifest has a fault, Check returns that error together with Verilator's findings, as far as the
// manifest allows to run Verilator.
func (b *DUTBuild) Check(ctx context.Context, dut string) (result.DUT, error) {
	d, err := b.check(ctx, dut, true)
	if !is[*manifest.Error](err) || d.Top != "" { // unless the manifest could not be loaded, the design has been linted
		return d, err
	}
	if lint := build.LintFaulty(ctx, d.Manifest); lint != nil {
		err = Usagef("%w\n%v", err, lint) // a usage error, whatever is wrong with the design
		d.Error = err.Error()
	}
	return d, err
}

// PortsOf reads the ports of a device's top module. It may return them together with an error that says where they do
// not fit the manifest.
func (b *DUTBuild) PortsOf(ctx context.Context, dut string) (result.DUT, error) {
	return b.check(ctx, dut, false)
}

func (b *DUTBuild) check(ctx context.Context, dut string, lint bool) (result.DUT, error) {
	return b.with(dut, func(m *manifest.Manifest, d *result.DUT) error {
		c, err := checkDesign(ctx, m, lint)
		d.Ports, d.Warnings = c.Ports, c.Warnings
		return err
	})
}

// checkDesign runs build.Check and also checks the manifest's section `play` against the ports.
func checkDesign(ctx context.Context, m *manifest.Manifest, lint bool) (*build.Checked, error) {
	c, err := build.Check(ctx, m, lint)
	if err != nil {
		return c, err
	}
	bound, err := manifest.Bind(m, c.Ports)
	if err == nil {
		err = play.Fit(bound)
	}
	return c, err
}

// with loads a device's manifest and calls `do` with it.
func (b *DUTBuild) with(dut string, do func(m *manifest.Manifest, d *result.DUT) error) (result.DUT, error) {
	if err := CheckLimits(); err != nil {
		return result.DUT{Name: dut}, err
	}
	m, d, err := b.load(dut)
	if err != nil {
		return d, Explain(err)
	}
	if err := do(m, &d); err != nil {
		d.Error = err.Error()
		return d, Explain(fmt.Errorf("%s: %w", dut, err))
	}
	return d, nil
}

// DUTClean selects what to remove from the build cache, in addition to what killed builds have left.
type DUTClean struct {
	All      bool
	ByAge    bool // remove builds unused for Older days
	Older    int
	DryRun   bool
	CacheDir string // empty: the user's cache
}

const (
	day      = 24 * time.Hour
	mostDays = 36_500
)

// Run cleans the build cache. With an error, it still returns what was removed.
func (c *DUTClean) Run() (*cache.Cleaned, error) {
	switch {
	case c.All && c.ByAge:
		return nil, Usagef("--all and --older: want one of them")
	case c.ByAge && (c.Older < 1 || c.Older > mostDays):
		return nil, Usagef("--older %d: want 1 to %d days, or --all", c.Older, mostDays)
	}
	o := cache.CleanOptions{CacheDir: c.CacheDir, All: c.All, DryRun: c.DryRun}
	if c.ByAge {
		o.Older = time.Duration(c.Older) * day
	}
	return cache.Clean(o)
}

// DUTShell holds the settings of the command that writes the emulation shell of a device.
type DUTShell struct {
	DUTBuild
	emulation.Options
	Out string // folder for the files
}

// NewDUTShell returns the default settings.
func NewDUTShell() *DUTShell { return &DUTShell{Options: emulation.DefaultOptions()} }

// Run writes the files and returns their paths.
func (s *DUTShell) Run(ctx context.Context, dut string) (d result.DUT, written []string, err error) {
	if s.Out == "" {
		return result.DUT{Name: dut}, nil, Usagef("no folder given: want --out DIR")
	}
	if err := s.Validate(); err != nil {
		return result.DUT{Name: dut}, nil, &UsageError{err}
	}
	d, err = s.with(dut, func(m *manifest.Manifest, d *result.DUT) error {
		o := build.Options{Log: s.Log, Context: ctx, Fits: emulation.Supported}
		if d.Ports, err = build.CheckEmulation(m, o); err != nil {
			return err
		}
		shell, err := emulation.Generate(ctx, m, d.Ports, s.Options, o)
		if err != nil {
			return err
		}
		written, err = s.write(m, shell)
		return err
	})
	return d, written, err
}

// write puts the shell into its folder: the top module, its blocks, and the list of all files.
func (s *DUTShell) write(m *manifest.Manifest, shell *emulation.Shell) (written []string, err error) {
	if _, err := files.Make(s.Out); err != nil {
		return nil, &UsageError{fmt.Errorf("--out: %w", err)}
	}
	dir, err := files.OpenFolder(s.Out)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	all, err := shell.Files(m)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		out, err := dir.Create(f.Name)
		if err == nil {
			_, err = out.WriteString(f.Text)
			err = errors.Join(err, out.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
		written = append(written, filepath.Join(s.Out, f.Name))
	}
	return written, nil
}
