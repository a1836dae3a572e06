package emulation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// Options shape a shell.
type Options struct {
	LinkBits int // width of the link: 8 to 512, a power of two
	Depth    int // beats, and events, that each transactor holds
	// Trace names the device's ports whose values the trace buffer holds, joined by +; empty: there is no buffer.
	Trace   string
	Samples int // of the trace buffer: a power of two
}

// Widths of a link, and the number of beats that a transactor may hold.
const (
	minLinkBits, maxLinkBits = 8, 512
	maxDepth                 = 1024
	minSamples, maxSamples   = 2, 4096
	defaultSamples           = 1024
	maxTraceBits             = 4096 // of a sample
)

// resendCycles is the number of host clocks after which a shell sends a frame again.
const resendCycles = 1 << 20

// DefaultOptions returns the shape of shells unless something else is asked for.
func DefaultOptions() Options { return Options{LinkBits: 8, Depth: 16, Samples: defaultSamples} }

// Validate reports all faults of the options.
func (o Options) Validate() error {
	if o.LinkBits < minLinkBits || o.LinkBits > maxLinkBits || o.LinkBits&(o.LinkBits-1) != 0 {
		return fmt.Errorf("a link of %d bits: want %d to %d, a power of two", o.LinkBits, minLinkBits, maxLinkBits)
	}
	if o.Depth < 1 || o.Depth > maxDepth {
		return fmt.Errorf("%d beats held by a transactor: want 1 to %d", o.Depth, maxDepth)
	}
	if o.Trace == "" && o.Samples != 0 && o.Samples != defaultSamples {
		return fmt.Errorf("a trace of %d samples: has no effect without the ports to trace", o.Samples)
	}
	if o.Trace != "" && (o.Samples < minSamples || o.Samples > maxSamples || o.Samples&(o.Samples-1) != 0) {
		return fmt.Errorf("a trace of %d samples: want %d to %d, a power of two", o.Samples, minSamples, maxSamples)
	}
	return nil
}

// zeroHash stands for a shell's identity while that is computed.
var zeroHash = strings.Repeat("0", 2*sha256.Size)

// Shell is a generated shell.
type Shell struct {
	Text   string             // source of the top module
	Blocks []string           // files of the blocks that it is made of, packages first
	Hash   string             // identity: of text, blocks and the design's sources, in hexadecimal
	Traced []manifest.PinPort // ports that the trace buffer holds
}

// Generate makes the shell for a device with these ports. Errors: those of Supported, and of reading sources.
func Generate(ctx context.Context, m *manifest.Manifest, ports []manifest.PinPort, o Options, bo build.Options) (*Shell,
	error) {
	bound, err := manifest.Bind(m, ports)
	if err != nil {
		return nil, err
	}
	if err := Supported(bound); err != nil {
		return nil, err
	}
	parameters, err := build.InstanceParameters(m, bo)
	if err != nil {
		return nil, err
	}
	s := &Shell{}
	if s.Blocks, err = blocks(m, &bo); err == nil {
		err = clashes(m, s.Blocks)
	}
	if err != nil {
		return nil, err
	}
	shape := newShape(bound, ports, parameters, o)
	if shape.Traced, err = traced(bound, ports, o); err != nil {
		return nil, err
	}
	s.Traced = shape.Traced
	shape.Hash = zeroHash
	if s.Hash, err = identity(ctx, m, shape.text(), s.Blocks); err != nil {
		return nil, err
	}
	shape.Hash = s.Hash
	s.Text = shape.text()
	return s, nil
}

// blocks returns the files of the shell's blocks. The clock gate is left out where the design has it.
func blocks(m *manifest.Manifest, o *build.Options) ([]string, error) {
	dir, err := build.ShellDir(o)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.sv"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no blocks of a shell: %w", dir, os.ErrNotExist)
	}
	const first, gate = "shell_pkg.sv", "nic_clkgate"
	slices.SortStableFunc(files, func(a, b string) int {
		return strings.Compare(rank(a, first)+a, rank(b, first)+b)
	})
	has, err := build.HasModule(m, gate)
	if err == nil && !has {
		files = append(files, filepath.Join(filepath.Dir(dir), "rtl", "cells", gate+".sv"))
	}
	return files, err
}

func rank(path, first string) string {
	if filepath.Base(path) == first {
		return "0"
	}
	return "1"
}

// identity computes the hash by which agent and board know that they belong together.
func identity(ctx context.Context, m *manifest.Manifest, text string, blocks []string) (string, error) {
	h := sha256.New()
	design, err := build.SourcesHash(ctx, m)
	if err != nil {
		return "", err
	}
	fmt.Fprintln(h, design)
	_, _ = io.WriteString(h, text)
	for _, f := range blocks {
		b, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, filepath.Base(f), len(b))
		_, _ = h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// board returns the manifest of the shell with the device inside; its streams are those of the link. file: the shell's
// text.
func (s *Shell) board(m *manifest.Manifest, file string) *manifest.Manifest {
	b := *m
	b.Name, b.Top = m.Name+"-board", Module
	b.Sources = append(append(slices.Clone(m.Sources), s.Blocks...), file)
	b.Parameters, b.TieOffs, b.TieRest, b.Observe, b.Busy, b.SkipIdle = nil, nil, "", nil, "", false
	b.VerilatorFlags = slices.DeleteFunc(slices.Clone(m.VerilatorFlags), func(f string) bool {
		_, _, ok := manifest.FlagParameter(f)
		return ok
	})
	b.Clocks = []manifest.Clock{{Signal: "clk", PeriodPs: 10_000}}
	b.Resets = []manifest.Reset{{Signal: "rst", Active: "high", Cycles: 1}}
	b.Streams = nil
	for _, l := range []struct{ name, dir string }{{"link_rx", manifest.DirIn}, {"link_tx", manifest.DirOut}} {
		b.Streams = append(b.Streams, manifest.Stream{Name: l.name, Kind: protocol.KindRecord, Dir: l.dir,
			Prefix: l.name, Fields: []string{"tdata"},
			Signals: map[string]string{"valid": l.name + "_tvalid", "ready": l.name + "_tready"}})
	}
	return &b
}

// Build makes agent and board of a device, or finds them in the cache. The device that it returns is the agent, which
// starts the board.
func Build(m *manifest.Manifest, o Options, bo build.Options) (*build.Device, error) {
	return buildTraced(m, o, TraceFile{Name: DefaultTraceFile}, bo)
}

func buildTraced(m *manifest.Manifest, o Options, trace TraceFile, bo build.Options) (*build.Device, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if bo.Variant != "" && bo.Variant != build.VariantSpeed {
		return nil, m.Errorf("name", "variant %s: not through a shell, which has no assertions, waves, coverage or "+
			"random power-up: want speed", bo.Variant)
	}
	plain := *m
	plain.SkipIdle = false // a shell runs idle cycles, too
	fits := bo.Fits
	bo.Variant, bo.Shell = build.VariantAgent, &build.ShellShape{Depth: o.Depth, LinkBytes: o.LinkBits / 8}
	bo.Fits = func(b *manifest.Binding) error {
		if err := Supported(b); err != nil || fits == nil {
			return err
		}
		return fits(b)
	}
	own, err := blocks(m, &bo)
	if err == nil {
		err = clashes(m, own)
	}
	if err != nil {
		return nil, err
	}
	agent, err := build.Build(&plain, bo)
	if err != nil {
		return nil, err
	}
	ctx := bo.Context
	if ctx == nil {
		ctx = context.Background()
	}
	shell, err := Generate(ctx, &plain, agent.Ports, o, bo)
	if err != nil {
		return nil, err
	}
	file, err := shell.store(bo.CacheDir)
	if err != nil {
		return nil, err
	}
	bo.Variant, bo.Shell, bo.Fits = build.VariantBoard, nil, nil
	board, err := build.Build(shell.board(&plain, file), bo)
	if err != nil {
		return nil, err
	}
	agent.Args = []string{"--board", board.Binary, "--board-hash", shell.Hash}
	agent.Args = append(agent.Args, traceArgs(o, shell.Traced, trace)...)
	agent.Cached = agent.Cached && board.Cached
	agent.Took += board.Took
	return agent, nil
}

// store writes the shell's text into the cache, under a name made of its identity.
func (s *Shell) store(dir string) (string, error) {
	root, err := cache.CacheRoot(dir)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, cache.ObjectsPrefix+"shells")
	if err := cache.UseFolder(folder); err != nil {
		return "", err
	}
	file := filepath.Join(folder, s.Hash[:20]+".sv")
	if have, err := os.ReadFile(file); err == nil && string(have) == s.Text {
		return file, nil
	}
	tmp, err := os.CreateTemp(folder, "shell-")
	if err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	_, err = tmp.WriteString(s.Text)
	if err == nil {
		err = tmp.Close()
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	return file, nil
}
