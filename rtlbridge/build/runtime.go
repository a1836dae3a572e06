package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/build/toolchain"
)

// Objects that builds share lie in the cache, each with its sum beside it: one that is damaged is compiled anew.

// runtimeDir holds the objects that do not depend on the design: those of Verilator's own run-time and of the harness.
func (b *builder) runtimeDir(root string) (string, error) {
	h := newHasher(b.o.context())
	h.text("verilator", b.tools.VerilatorVersion)
	h.text("compiler", b.tools.CxxVersion)
	h.text("cpu", toolchain.CpuFlags())
	flags := strings.NewReplacer(b.work, "WORK", b.home, "HARNESS").Replace(strings.Join(b.cxxFlags(), "\n"))
	h.text("flags", buildSchema+flags)
	if err := h.tree("harness", b.home, isHarnessSource); err != nil {
		return "", fmt.Errorf("harness: %w", err)
	}
	sum := h.sum()
	dir := filepath.Join(root, fmt.Sprintf("%s%x", cache.ObjectsPrefix, sum[:10]))
	return dir, cache.UseFolder(dir)
}

// shared are units whose objects builds share.
func shared(us []unit) []unit {
	for i := range us {
		us[i].shared = true
	}
	return us
}

const sumExt = ".sum"

// done reports whether the object is there, and whole if builds share it.
func (u *unit) done() bool {
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

// sign leaves the sum of an object that builds share. Two processes that compile it at once leave the same.
func (u *unit) sign() error {
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
