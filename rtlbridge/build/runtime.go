package build

import (
	"fmt"
	"path/filepath"
	"strings"

	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/build/toolchain"
)

// Object files shared by several builds are kept in the cache, each with a checksum of its content beside it
// (.sum): one that does not match is recompiled.

// runtimeDir returns the folder of objects that do not depend on the design: those of Verilator's own run-time
// and of the harness.
func (b *builder) runtimeDir(root string) (string, error) {
	h := newHasher(b.o.context())
	h.text("verilator", b.tools.VerilatorVersion)
	h.text("compiler", b.tools.CxxVersion)
	h.text("cpu", toolchain.CpuFlags())
	places := strings.NewReplacer(b.work, "WORK", b.shellDir(), "SHELL", b.home, "HARNESS")
	flags := places.Replace(strings.Join(b.cxxFlags(), "\n"))
	h.text("flags", buildSchema+flags)
	if err := h.tree("harness", b.home, isHarnessSource); err != nil {
		return "", fmt.Errorf("harness: %w", err)
	}
	sum := h.sum()
	dir := filepath.Join(root, fmt.Sprintf("%s%x", cache.ObjectsPrefix, sum[:10]))
	return dir, cache.UseFolder(dir)
}
