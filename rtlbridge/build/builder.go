package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"nictwin/rtlbridge/build/cache"
	"nictwin/rtlbridge/build/sources"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// Device is a built device.
type Device struct {
	Manifest *manifest.Manifest
	Variant  Variant
	Hash     [32]byte // identity of the build; the running device must report the same
	Binary   string   // the program
	Args     []string // its arguments whatever it is started for
	Ports    []manifest.PinPort
	Compiler string
	Cached   bool          // found in the cache
	Took     time.Duration // wall time of Build
}

// HashString returns the build's hash in hexadecimal.
func (d *Device) HashString() string { return hex.EncodeToString(d.Hash[:]) }

const classPrefix = "Vdut" // Verilator's name for the top-level class

type builder struct {
	m       *manifest.Manifest
	o       Options
	tools   *toolchain.Tools
	src     *sources.Set
	hash    *hasher
	sum     [32]byte
	home    string               // folder of the harness
	limits  toolchain.ToolLimits // limits of Verilator's runs
	scratch *cache.Scratch       // becomes the cache entry
	work    string               // path of the scratch folder

	link, linkHome string // the link that linkDesign made, and the folder made for it
	wrapper        string // source of a module around the design; "" if it needs none
}

// fileSum returns the SHA-256 of a file, in hexadecimal.
func fileSum(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// shellDir returns the folder of the emulation shell, which lies beside the harness.
func (b *builder) shellDir() string { return filepath.Join(filepath.Dir(b.home), "shell") }

func (b *builder) logf(format string, args ...any) {
	if b.o.Log != nil {
		fmt.Fprintf(b.o.Log, "dut %s (%s): %s\n", b.m.Name, b.o.Variant, fmt.Sprintf(format, args...))
	}
}
