package own

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"nictwin/rtlbridge/build/cache"
)

// Options describes how to build and run a user's reference.
type Options struct {
	Home   string // nictwin's folder
	Dir    string // folder of the reference
	Limits Limits
	Log    io.Writer // progress of the build; nil: it is not shown
	Output io.Writer // receives the output of the reference; nil: it is dropped
}

// Program is a reference that has been built.
type Program struct {
	Dir    string // folder of the reference
	Binary string
	Limits Limits
	output sink
}

// record describes a program in the cache, in the file beside it.
type record struct {
	Hash    string   `json:"hash"`
	Program string   `json:"program"` // hash of the program file: a damaged program is built again
	Dir     string   `json:"dir"`     // folder from which it was first built
	Files   []string `json:"files"`
}

// programFile is the name of the program within its cache entry.
const programFile = "reference"

// Names within a cache entry: the folder for copies of the sources, and the copy of the program's own main file.
const (
	sourceFolder = "src"
	hookFile     = "hook"
)

// Build builds the reference of a folder, or finds it in the cache. Errors: *FolderError, those of the cache, and
// toolchain.ErrToolMissing.
func Build(ctx context.Context, o Options) (*Program, error) {
	list, err := readSources(o.Dir)
	if err == nil {
		err = checkSources(o.Dir, list)
	}
	if err != nil {
		return nil, &FolderError{o.Dir, err.Error()}
	}
	b := &builder{Options: o, ctx: ctx, list: list}
	if err := b.key(); err != nil {
		return nil, err
	}
	root, err := cache.CacheRoot("")
	if err != nil {
		return nil, err
	}
	b.entry = filepath.Join(root, fmt.Sprintf("%s-%s-%s", entryName(o.Dir), cache.Reference, b.hash[:20]))
	if b.load() == nil {
		return b.program(), nil
	}
	unlock, err := cache.LockEntry(ctx, b.entry, b.logf)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if b.load() == nil { // another process may have built it while this one waited for the lock
		return b.program(), nil
	}
	if err := b.create(root); err != nil {
		cache.DropLock(b.entry)
		return nil, err
	}
	return b.program(), nil
}

// builder is a build in progress.
type builder struct {
	Options
	ctx   context.Context
	list  []source
	hash  string
	entry string
}

func (b *builder) logf(format string, a ...any) {
	if b.Log != nil {
		_, _ = fmt.Fprintf(b.Log, format+"\n", a...) // progress is for people
	}
}

func (b *builder) program() *Program {
	p := &Program{Dir: b.Dir, Binary: filepath.Join(b.entry, programFile), Limits: b.Limits}
	p.output.to = cmp.Or[io.Writer](b.Output, io.Discard)
	return p
}

// strange matches characters that names in the cache may not contain.
var strange = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// entryName returns a readable name for a folder's program.
func entryName(dir string) string {
	const most = 40
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	n := strange.ReplaceAllString(filepath.Base(dir), "_")
	return n[:min(len(n), most)]
}

// load checks whether the cache has the program, and records its use.
func (b *builder) load() error {
	file := filepath.Join(b.entry, cache.RecordFile)
	if err := cache.Use(file); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	sum, err := fileSum(filepath.Join(b.entry, programFile))
	if err == nil && (r.Hash != b.hash || r.Program != sum) {
		err = errors.New("it is another program")
	}
	return err
}

// create builds in a scratch folder, which becomes the entry of the cache.
func (b *builder) create(root string) error {
	if err := cache.Sweep(root); err != nil {
		return err
	}
	scratch, err := cache.NewScratch(root)
	if err != nil {
		return err
	}
	defer scratch.Remove()
	b.logf("building reference %s", b.Dir)
	overlay, err := b.writeSources(scratch.Dir)
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	if err := b.compile(overlay, filepath.Join(scratch.Dir, programFile)); err != nil {
		return err
	}
	if err := b.writeRecord(scratch.Dir); err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	if err := scratch.Publish(b.entry); err != nil {
		return err
	}
	if err := b.load(); err != nil {
		return fmt.Errorf("build cache: %s: %w", b.entry, err)
	}
	return nil
}

// writeSources writes the files as they were read, and the overlay by which the Go tool sees them in nictwin's module.
func (b *builder) writeSources(dir string) (overlay string, err error) {
	src := filepath.Join(dir, sourceFolder)
	if err := os.Mkdir(src, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	put := func(at, name string, text []byte) error {
		replace[at] = filepath.Join(src, name)
		return os.WriteFile(replace[at], text, 0o644)
	}
	for _, s := range b.list {
		if err := put(filepath.Join(b.Home, "userref", s.name), s.name, s.text); err != nil {
			return "", err
		}
	}
	if err := put(filepath.Join(b.Home, mainFolder, "main.go"), hookFile, []byte(hookText)); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// writeRecord records what was built.
func (b *builder) writeRecord(dir string) error {
	sum, err := fileSum(filepath.Join(dir, programFile))
	if err != nil {
		return err
	}
	r := record{Hash: b.hash, Program: sum, Dir: b.Dir}
	for _, s := range b.list {
		r.Files = append(r.Files, s.name)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, cache.RecordFile), text, 0o644)
}

// fileSum returns the hash of a file, in hexadecimal.
func fileSum(path string) (string, error) {
	h := newHash()
	if err := h.file("program", path); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
