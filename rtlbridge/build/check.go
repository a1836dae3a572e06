package build

import (
	"context"
	"errors"
	"slices"

	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/build/sources"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// Checked is the result of checking a design.
type Checked struct {
	Ports    []manifest.PinPort
	Warnings []Remark // style warnings of `verilator -Wall`, which fail no build
}

// Check verilates a manifest's sources, as a build does, and binds the manifest to the ports found, without
// compiling. With lint, it also collects the warnings of `verilator -Wall`. It returns ports together with an
// error if the manifest does not fit them. A canceled context ends it.
func Check(ctx context.Context, m *manifest.Manifest, lint bool) (*Checked, error) {
	c := &Checked{}
	b, err := prepare(m, Options{Context: ctx})
	if err == nil {
		b.limits = toolchain.LookLimits
		err = b.makeScratch()
	}
	if err != nil {
		return c, err
	}
	defer b.cleanUp()
	if c.Ports, err = b.translate(); err != nil {
		return c, err
	}
	if _, err = manifest.Bind(m, c.Ports); lint {
		var lintErr error
		c.Warnings, lintErr = b.lint()
		err = errors.Join(err, lintErr)
	}
	return c, err
}

// makeScratch makes a scratch folder in the cache, which cleanUp removes.
func (b *builder) makeScratch() error {
	root, err := cache.CacheRoot(b.o.CacheDir)
	if err == nil {
		b.scratch, err = cache.NewScratch(root)
	}
	if err != nil {
		return err
	}
	b.work = b.scratch.Dir
	return nil
}

// cleanUp removes the scratch folder, unless it has become an entry of the cache.
func (b *builder) cleanUp() {
	_ = b.unlinkDesign() // what remains is removed by the next cleaning of the cache
	b.scratch.Remove()
}

// lint runs Verilator on the design with every warning enabled, and returns the warnings.
func (b *builder) lint() ([]Remark, error) {
	dir := b.work + "/lint" // some options write files even when linting
	wrapper := b.wrapper
	b.wrapper = "" // the wrapper is not the user's design
	defer func() { b.wrapper = wrapper }()
	out, err := b.verilator("lint of", "--lint-only", "-Wall", "-Wno-fatal", "-Werror-USERFATAL", "-Werror-USERERROR",
		"--assert", "--no-timing", "--Mdir", dir)
	warnings := slices.DeleteFunc(readRemarks(out), func(r Remark) bool { return r.isError })
	return warnings, err
}

// LintFaulty lints the design of a manifest that manifest.Load refuses, so that errors of both are reported at
// once. It returns nil if the design has none, or if the design is unknown because a field that defines it is
// faulty.
func LintFaulty(ctx context.Context, path string) error {
	m := manifest.LoadDesign(path)
	if m == nil {
		return nil
	}
	b := &builder{m: m, o: Options{Context: ctx}, limits: toolchain.LookLimits}
	var errTools, errSources error
	b.tools, errTools = toolchain.Find("")
	b.src, errSources = sources.Expand(m)
	if err := errors.Join(errTools, errSources); err != nil {
		return err
	}
	if err := sources.CheckIncludes(b.o.context(), m, b.src); err != nil {
		return err
	}
	if err := b.makeScratch(); err != nil {
		return err
	}
	defer b.cleanUp()
	_, err := b.lint()
	return err
}

// Ports returns the ports of a manifest's top module. Only the fields that define the design are used: clocks
// and streams may be missing. A canceled context ends it.
func Ports(ctx context.Context, m *manifest.Manifest) ([]manifest.PinPort, error) {
	b, err := prepare(m, Options{Context: ctx})
	if err != nil {
		return nil, err
	}
	b.limits = toolchain.LookLimits
	if err := b.makeScratch(); err != nil {
		return nil, err
	}
	defer b.cleanUp()
	return b.translate()
}
