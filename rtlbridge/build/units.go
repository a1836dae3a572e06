package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/build/toolchain"
)

// unit is one translation unit: a source, where its object goes and how hard to optimise.
type unit struct {
	src, obj string
	flags    []string
	shared   bool // the object is shared between builds and stays in the cache
}

func units(dir, objDir, opt string, names ...string) []unit {
	var us []unit
	for _, n := range names {
		us = append(us, unit{src: filepath.Join(dir, n+".cpp"), obj: filepath.Join(objDir, n+".o"),
			flags: []string{opt}})
	}
	return us
}

func (b *builder) linkTo(program string, us []unit, flags ...string) error {
	args := append([]string{"-o", program}, flags...)
	for _, u := range us {
		args = append(args, u.obj)
	}
	args = append(args, "-pthread", "-latomic")
	if b.o.Variant == VariantWaves {
		args = append(args, b.tools.WaveLibraries()...)
	}
	return b.cxx("linking "+b.m.Name, args...)
}

// cxx runs the compiler. Files that it writes in addition to its output, such as a crash report, stay in the
// scratch folder.
func (b *builder) cxx(step string, args ...string) error {
	_, err := toolchain.ToolRun{Ctx: b.o.context(), Limits: toolchain.BuildLimits, Env: []string{"TMPDIR=" + b.work},
		Step: step, Dir: b.work}.Run(b.tools.Cxx, args...)
	return err
}

// compileAll compiles the units that have no object yet, as many at a time as there are processors.
func (b *builder) compileAll(units []unit) error {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
		sem  = make(chan struct{}, runtime.NumCPU())
	)
	for _, u := range units {
		if u.upToDate() {
			continue
		}
		wg.Add(1)
		sem <- struct{}{}
		go func() {
			defer func() { <-sem; wg.Done() }()
			if err := b.compileOne(u); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

// compileOne writes the object under another name and renames it, so that an incomplete one is never found.
func (b *builder) compileOne(u unit) error {
	tmp := u.obj + cache.UnfinishedObject(b.work)
	args := append(append(b.cxxFlags(), u.flags...), "-c", "-o", tmp, u.src)
	if err := b.cxx("compiling "+filepath.Base(u.src), args...); err != nil {
		return err
	}
	if err := os.Rename(tmp, u.obj); err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	return u.writeChecksum()
}

// shared returns the units whose objects builds share.
func shared(us []unit) []unit {
	for i := range us {
		us[i].shared = true
	}
	return us
}

const sumExt = ".sum"

// upToDate reports whether the object exists and, if builds share it, matches its checksum.
func (u *unit) upToDate() bool {
	if !u.shared {
		_, err := os.Stat(u.obj)
		return err == nil
	}
	want, err := os.ReadFile(u.obj + sumExt)
	if err != nil {
		return false
	}
	have, err := fileSum(u.obj)
	return err == nil && have == string(want)
}

// writeChecksum writes the checksum of a shared object. Two processes that compile it at once write the same.
func (u *unit) writeChecksum() error {
	if !u.shared {
		return nil
	}
	sum, err := fileSum(u.obj)
	if err != nil {
		return err
	}
	if err := os.WriteFile(u.obj+sumExt, []byte(sum), 0o644); err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	return nil
}
