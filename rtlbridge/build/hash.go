package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"nictwin/rtlbridge/build/sources"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// buildSchema changes when the build's own rules change, so that older entries are not used.
const buildSchema = "nictwin-rtl-6"

// hasher folds named contents into one hash.
type hasher struct {
	ctx  context.Context // cancels hashing
	h    hash.Hash
	seen map[string]bool // absolute paths of hashed files
	room int64           // bytes that may still be read
}

func newHasher(ctx context.Context) *hasher {
	return &hasher{ctx: ctx, h: sha256.New(), seen: map[string]bool{}, room: sources.MaxSourcesBytes}
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
	most := min(sources.MaxSourceBytes, h.room)
	n := info.Size()
	one := sha256.New()
	if n <= most {
		n, err = io.Copy(one, &abiding{h.ctx, io.LimitReader(f, most+1)}) // the file may grow
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case n > sources.MaxSourceBytes:
		return sources.TooLarge(path)
	case n > h.room:
		return fmt.Errorf("%s: sources and include folders have more than %d MB in all, the limit; name only what "+
			"the design needs", path, sources.MaxSourcesBytes>>20)
	}
	h.room -= n
	h.text("file "+name, fmt.Sprintf("%x", one.Sum(nil)))
	h.seen[path] = true
	return nil
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

// walk lists the regular files under dir whose names are accepted by the function keep.
func (h *hasher) walk(dir string, keep func(string) bool) (files []string, err error) {
	walked := 0
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		walked++
		switch {
		case h.ctx.Err() != nil:
			return context.Cause(h.ctx)
		case err != nil:
			return fmt.Errorf("not all of %s can be read: %w; name the folder that has the files", dir, err)
		case walked > sources.MaxIncludeWalk:
			return fmt.Errorf("more than %d files and folders under %s: name a smaller folder", sources.MaxIncludeWalk,
				dir)
		}
		if d.Type().IsRegular() && keep(p) {
			files = append(files, p)
		}
		if len(files) > sources.MaxIncludeTree {
			return fmt.Errorf("more than %d files under %s: name a smaller folder", sources.MaxIncludeTree, dir)
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

// buildHash computes the identity of a build: everything that can change its behaviour or its speed.
func (b *builder) buildHash(flags []string) error {
	m, t := b.m, b.tools
	h := newHasher(b.o.context())
	b.hash = h
	h.text("schema", buildSchema)
	h.text("glue", glueText)
	h.text("variant", string(b.o.Variant))
	h.text("verilator flags", strings.Join(flags, "\n"))
	h.text("verilator", t.VerilatorVersion)
	h.text("compiler", t.CxxVersion)
	if !t.Clang {
		h.text("flag", gccFlag)
	}
	h.text("cpu", toolchain.CpuFlags())
	desc, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("manifest %s: %w", m.Path, err)
	}
	h.text("manifest", string(desc))
	h.text("list defines", strings.Join(b.src.Defines, "\n"))
	if err := b.hashDesign(); err != nil {
		return err
	}
	if err := h.tree("harness", b.home, isHarnessSource); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	return b.hashShell()
}

// hashShell adds the sources of agent and board to the hash of their builds.
func (b *builder) hashShell() error {
	if !b.o.Variant.emulates() {
		return nil
	}
	if b.o.Variant == VariantAgent {
		if b.o.Shell == nil {
			return errors.New("an agent's build needs the shape of its shell")
		}
		b.hash.text("shell", fmt.Sprintf("%+v", *b.o.Shell))
	}
	if err := b.hash.tree("shell", filepath.Join(b.shellDir(), string(b.o.Variant)), isHarnessSource); err != nil {
		return fmt.Errorf("shell: %w", err)
	}
	return nil
}

// SourcesHash returns the hash of a design's sources, in hexadecimal: the same for builds of every variant and size.
func SourcesHash(ctx context.Context, m *manifest.Manifest) (string, error) {
	src, err := sources.Expand(m)
	if err != nil {
		return "", err
	}
	b := &builder{m: m, o: Options{Context: ctx}, src: src, hash: newHasher(ctx)}
	if err := b.hashDesign(); err != nil {
		return "", err
	}
	sum := b.hash.sum()
	return hex.EncodeToString(sum[:]), nil
}

// hashDesign hashes the sources and include folders. Unreadable or too many files are a fault of the manifest.
func (b *builder) hashDesign() error {
	var errs []error
	add := func(path string, err error) {
		if err != nil {
			errs = append(errs, b.src.Fault(b.m, path, err))
		}
	}
	for _, f := range b.src.Files {
		add(f, b.hash.file(b.m.Rel(f), f))
	}
	for _, d := range b.src.IncDirs {
		add(d, b.hash.tree(b.m.Rel(d), d, isVerilog))
	}
	if ctx := b.o.context(); ctx.Err() != nil {
		return fmt.Errorf("reading the sources of %s: %w", b.m.Name, context.Cause(ctx))
	}
	return errors.Join(errs...)
}
