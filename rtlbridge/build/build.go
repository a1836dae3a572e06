package build

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/build/sources"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// deviceRecord is the cache's record of a build.
type deviceRecord struct {
	Hash     string             `json:"hash"`
	Program  string             `json:"program"` // SHA-256 of the program: a damaged one is rebuilt
	Name     string             `json:"name"`
	Top      string             `json:"top"`
	Variant  Variant            `json:"variant"`
	Compiler string             `json:"compiler"`
	Ports    []manifest.PinPort `json:"ports"`
}

// Build verilates and compiles a device, or finds it in the cache. Errors: ErrToolMissing, *BuildError,
// *RefusedError, *DesignError, *manifest.Error.
func Build(m *manifest.Manifest, o Options) (*Device, error) {
	begin := time.Now()
	b, root, entry, err := locate(m, o)
	if err != nil {
		return nil, err
	}
	if d, err := b.load(entry); err == nil {
		d.Cached, d.Took = true, time.Since(begin)
		return d, nil
	}
	unlock, err := cache.LockEntry(o.context(), entry, b.logf)
	if err != nil {
		return nil, err
	}
	defer unlock()
	d, err := b.buildNew(root, entry)
	if err != nil {
		cache.DropLock(entry)
		return nil, err
	}
	d.Took = time.Since(begin)
	return d, nil
}

// Lookup returns what Build would, but builds nothing: a device that is not in the cache has no program yet.
func Lookup(m *manifest.Manifest, o Options) (*Device, error) {
	begin := time.Now()
	b, _, entry, err := locate(m, o)
	if err != nil {
		return nil, err
	}
	d, err := b.load(entry)
	if err != nil {
		d = &Device{Manifest: m, Variant: b.o.Variant, Hash: b.sum}
	}
	d.Cached, d.Took = err == nil, time.Since(begin)
	return d, nil
}

// locate computes the hash of a build, and returns the root of the cache and the path of the build's entry.
func locate(m *manifest.Manifest, o Options) (b *builder, root, entry string, err error) {
	if b, err = prepare(m, o); err != nil {
		return nil, "", "", err
	}
	if root, err = cache.CacheRoot(o.CacheDir); err != nil {
		return nil, "", "", err
	}
	b.sum = b.hash.sum()
	return b, root, filepath.Join(root, fmt.Sprintf("%s-%s-%x", m.Name, b.o.Variant, b.sum[:10])), nil
}

// buildNew builds a device that is not in the cache; its entry is locked.
func (b *builder) buildNew(root, entry string) (*Device, error) {
	d, err := b.load(entry) // another process may have made the build meanwhile
	if err == nil {
		return d, nil
	}
	if b.o.Variant == VariantTuned && b.o.Training == "" {
		if _, err := b.tools.Tuning(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %s is not in the cache; make it with: nictwin dut tune", ErrNotTuned, b.m.Name)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		b.logf("building anew: %v", err)
	}
	return b.create(root, entry)
}

func prepare(m *manifest.Manifest, o Options) (*builder, error) {
	if o.Variant == "" {
		o.Variant = VariantSpeed
	}
	flags, err := verilatorFlags(o.Variant)
	if err != nil {
		return nil, err
	}
	if err := o.checkTraining(); err != nil {
		return nil, err
	}
	b := &builder{m: m, o: o, limits: toolchain.BuildLimits}
	if b.tools, err = toolchain.Find(o.Compiler); err != nil {
		return nil, err
	}
	if err := checkVariant(b.tools, o.Variant); err != nil {
		return nil, err
	}
	if b.src, err = sources.Expand(m); err != nil {
		return nil, err
	}
	if b.home, err = findHarness(o.HarnessDir); err != nil {
		return nil, err
	}
	if err := b.buildHash(flags); err != nil {
		return b, err
	}
	return b, sources.CheckIncludes(o.context(), m, b.src)
}

func (b *builder) load(entry string) (*Device, error) {
	record := filepath.Join(entry, cache.RecordFile)
	if err := cache.Use(record); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(record)
	if err != nil {
		return nil, err
	}
	var r deviceRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", entry, err)
	}
	bin := filepath.Join(entry, "dut")
	if r.Hash != hex.EncodeToString(b.sum[:]) {
		return nil, fmt.Errorf("%s holds another build", entry)
	}
	program, err := programSum(bin)
	if err != nil {
		return nil, err
	}
	if program != r.Program {
		return nil, fmt.Errorf("%s: the program is not the one that was built", entry)
	}
	return &Device{Manifest: b.m, Variant: r.Variant, Hash: b.sum, Binary: bin, Ports: r.Ports, Compiler: r.Compiler},
		nil
}

// programSum returns the checksum of an executable program.
func programSum(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("build cache: %s is no program", path)
	}
	return fileSum(path)
}

// create builds in a scratch folder beside the entry and moves the complete build into place.
func (b *builder) create(root, entry string) (*Device, error) {
	if err := cache.Sweep(root); err != nil {
		return nil, err
	}
	if err := b.makeScratch(); err != nil {
		return nil, err
	}
	defer b.cleanUp()
	b.logf("verilating %s", b.m.Top)
	early := make(chan error, 1)
	go func() { early <- b.compileEarly(root) }()
	ports, err := b.translate()
	if err := errors.Join(err, <-early); err != nil {
		return nil, err
	}
	bound, err := b.bind(ports)
	if b.o.Variant == VariantAgent {
		err = errors.Join(err, b.checkEdges())
	}
	if err != nil {
		return nil, err
	}
	if err := b.program(root, bound, ports); err != nil {
		return nil, err
	}
	if err := errors.Join(b.unlinkDesign(), b.writeRecord(ports)); err != nil {
		return nil, err
	}
	if err := b.scratch.Publish(entry); err != nil {
		return nil, err
	}
	return b.load(entry)
}

// bind joins the manifest with the ports of the translated design.
func (b *builder) bind(ports []manifest.PinPort) (*manifest.Binding, error) {
	bound, err := manifest.Bind(b.m, ports)
	if err == nil && b.o.Fits != nil {
		err = b.o.Fits(bound)
	}
	return bound, err
}

// program compiles the translated design.
func (b *builder) program(root string, bound *manifest.Binding, ports []manifest.PinPort) error {
	counters := 0
	var err error
	if b.o.Variant == VariantCoverage {
		if counters, err = b.takePoints(); err != nil {
			return err
		}
	}
	text, err := glue(glueData{Binding: bound, Hash: b.sum, Counters: counters, Agent: b.o.Shell, AllPorts: ports})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.work, "dut.hpp"), text, 0o644); err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	b.logf("compiling with %s", filepath.Base(b.tools.Cxx))
	if err := b.compile(root); err != nil {
		return err
	}
	if b.o.Variant == VariantCoverage {
		if err := b.addSignals(); err != nil {
			return err
		}
	}
	return nil
}

// writeRecord writes the record of the build into the scratch folder.
func (b *builder) writeRecord(ports []manifest.PinPort) error {
	program, err := programSum(filepath.Join(b.work, "dut"))
	if err != nil {
		return err
	}
	r := deviceRecord{
		Program: program,
		Hash:    hex.EncodeToString(b.sum[:]), Name: b.m.Name, Top: b.m.Top, Variant: b.o.Variant,
		Compiler: strings.SplitN(b.tools.CxxVersion, "\n", 2)[0], Ports: ports,
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(b.work, cache.RecordFile), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	return nil
}
