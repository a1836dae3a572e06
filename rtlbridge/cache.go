package rtlbridge

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// buildSchema changes when the build's own rules change, so that older entries are not used.
const buildSchema = "nictwin-rtl-6"

// cachePath is where builds are kept: below $NICTWIN_CACHE or the user's cache folder.
func cachePath(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("NICTWIN_CACHE")
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder: set NICTWIN_CACHE: %w", err)
		}
		dir = filepath.Join(base, "nictwin")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "rtl")) // tools run elsewhere
	if err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	return dir, nil
}

// cacheRoot is cachePath, which it makes if need be.
func cacheRoot(dir string) (string, error) {
	dir, err := cachePath(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	return dir, nil
}

// harnessDir is the folder of SetHarness.
var harnessDir atomic.Pointer[string]

// SetHarness names the folder of the C++ harness for builds that name none. It is compiled into every device, so nobody but
// the program says where it is: neither the folder of a manifest nor the working folder does.
func SetHarness(dir string) { harnessDir.Store(&dir) }

// findHarness is the folder of the harness, of a build that names one or not.
func findHarness(given string) (string, error) {
	if dir := harnessDir.Load(); given == "" && dir != nil {
		given = *dir
	}
	if given == "" {
		return "", errors.New("the folder of the harness (verilator/harness) is not known: name it by BuildOptions.HarnessDir or SetHarness")
	}
	if !isHarness(given) {
		return "", fmt.Errorf("%s is not the harness: it has no device.hpp", given)
	}
	return filepath.Abs(given)
}

func isHarness(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "device.hpp"))
	return err == nil
}

// Limits on what of a design is read to know it again.
const (
	maxSourceBytes  = 256 << 20
	maxSourcesBytes = 1 << 30
	maxIncludeTree  = 20_000  // files under one include folder
	maxIncludeWalk  = 200_000 // files and folders of any kind under it
)

// hasher folds named contents into one hash.
type hasher struct {
	ctx  context.Context // ends it
	h    hash.Hash
	seen map[string]bool // absolute paths of hashed files
	room int64           // bytes that may still be read
}

func newHasher(ctx context.Context) *hasher {
	return &hasher{ctx: ctx, h: sha256.New(), seen: map[string]bool{}, room: maxSourcesBytes}
}

func (h *hasher) text(name, value string) { fmt.Fprintf(h.h, "%s %d\n%s\n", name, len(value), value) }

func (h *hasher) file(name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	most := min(maxSourceBytes, h.room)
	n := info.Size()
	one := sha256.New()
	if n <= most {
		n, err = io.Copy(one, &abiding{h.ctx, io.LimitReader(f, most+1)}) // it may grow
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case n > maxSourceBytes:
		return tooLarge(path)
	case n > h.room:
		return fmt.Errorf("%s: sources and include folders have more than %d MB in all, the limit; name only what the design needs", path, maxSourcesBytes>>20)
	}
	h.room -= n
	h.text("file "+name, fmt.Sprintf("%x", one.Sum(nil)))
	h.seen[path] = true
	return nil
}

func tooLarge(path string) error {
	return fmt.Errorf("%s has more than %d MB, the limit of a source", path, maxSourceBytes>>20)
}

// abiding reads until its context is canceled.
type abiding struct {
	ctx context.Context
	in  io.Reader
}

func (a *abiding) Read(b []byte) (int, error) {
	if a.ctx.Err() != nil {
		return 0, context.Cause(a.ctx)
	}
	return a.in.Read(b)
}

// tree hashes every regular file under dir whose name keep accepts.
func (h *hasher) tree(name, dir string, keep func(string) bool) error {
	files, err := h.walk(dir, keep)
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, f := range files {
		rel, err := filepath.Rel(dir, f)
		if err != nil {
			return err
		}
		if err := h.file(name+"/"+rel, f); err != nil {
			return err
		}
	}
	return nil
}

// walk lists the regular files under dir whose names keep accepts.
func (h *hasher) walk(dir string, keep func(string) bool) (files []string, err error) {
	walked := 0
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		walked++
		switch {
		case h.ctx.Err() != nil:
			return context.Cause(h.ctx)
		case err != nil:
			return fmt.Errorf("not all of %s can be read: %w; name the folder that has the files", dir, err)
		case walked > maxIncludeWalk:
			return fmt.Errorf("more than %d files and folders under %s: name a smaller folder", maxIncludeWalk, dir)
		}
		if d.Type().IsRegular() && keep(p) {
			files = append(files, p)
		}
		if len(files) > maxIncludeTree {
			return fmt.Errorf("more than %d files under %s: name a smaller folder", maxIncludeTree, dir)
		}
		return nil
	})
	return files, err
}

func (h *hasher) sum() (out [32]byte) {
	copy(out[:], h.h.Sum(nil))
	return out
}

func isVerilog(path string) bool {
	switch filepath.Ext(path) {
	case ".v", ".sv", ".vh", ".svh", ".h", ".inc", ".vlt", ".svi":
		return true
	}
	return false
}

func isHarnessSource(path string) bool {
	ext := filepath.Ext(path)
	return (ext == ".hpp" || ext == ".cpp") && !strings.Contains(path, string(filepath.Separator)+"tests"+string(filepath.Separator))
}

// buildHash is the identity of a build: everything that can change its behaviour or its speed.
func (b *builder) buildHash(flags []string) error {
	m, t := b.m, b.tools
	h := newHasher(b.o.context())
	b.hash = h
	h.text("schema", buildSchema)
	h.text("glue", glueText)
	h.text("variant", string(b.o.Variant))
	h.text("verilator flags", strings.Join(flags, "\n"))
	h.text("verilator", t.verilatorVersion)
	h.text("compiler", t.cxxVersion)
	if !t.clang {
		h.text("flag", gccFlag)
	}
	h.text("cpu", cpuFlags())
	desc, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("manifest %s: %w", m.Path, err)
	}
	h.text("manifest", string(desc))
	h.text("list defines", strings.Join(b.src.defines, "\n"))
	if err := b.hashDesign(); err != nil {
		return err
	}
	if err := h.tree("harness", b.home, isHarnessSource); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	return nil
}

// hashDesign takes the sources and include folders. What cannot be read, or is too much, is a fault of the manifest.
func (b *builder) hashDesign() error {
	var errs []error
	add := func(path string, err error) {
		if err != nil {
			errs = append(errs, b.m.errorf(b.src.fields[path], "%s: %v", topField(b.src.fields[path]), err))
		}
	}
	for _, f := range b.src.files {
		add(f, b.hash.file(b.m.rel(f), f))
	}
	for _, d := range b.src.incDirs {
		add(d, b.hash.tree(b.m.rel(d), d, isVerilog))
	}
	if ctx := b.o.context(); ctx.Err() != nil {
		return fmt.Errorf("reading the sources of %s: %w", b.m.Name, context.Cause(ctx))
	}
	return errors.Join(errs...)
}

// rel gives a path relative to the manifest, so that a hash does not depend on where the tree lies.
func (m *Manifest) rel(path string) string {
	base, err := filepath.Abs(m.Dir())
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(base, path); err == nil {
		return r
	}
	return path
}
