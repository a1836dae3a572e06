package pipeline

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/home"
)

// Bundling describes the bundle of a run that failed.
type Bundling struct {
	Bundle bundle.Bundle     // inputs and flags
	Names  map[string]string // maps paths on this machine to names in the bundle
	DUT    string            // path of the device's manifest; empty: no RTL that is built here
	Home   string            // folder of the home; empty: none
	RTL    bool              // add the RTL, too

	notes []string // each names a file that was left out, and why
}

// WriteBundle writes the bundle of a run that failed. If the bundle cannot be made, a note in the object gives the
// reason; an error is returned only if the bundle's file cannot be written.
func WriteBundle(dir *result.Folder, o *result.Object, x *Bundling) error {
	text, err := x.bytes(dir, o)
	if err != nil {
		o.Bundle = &result.Bundled{Note: err.Error()}
		return nil
	}
	if err := dir.Files.Write(result.Bundle, text); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	o.Bundle = &result.Bundled{File: dir.Files.Path(result.Bundle), Note: strings.Join(x.notes, "; ")}
	return nil
}

// bytes completes the bundle and returns the archive.
func (x *Bundling) bytes(dir *result.Folder, o *result.Object) ([]byte, error) {
	names := map[string]string{filepath.Clean(dir.Dir) + string(filepath.Separator): ""}
	maps.Copy(names, x.Names)
	portable, err := o.Portable(strings.NewReplacer(longestFirst(names)...))
	if err != nil {
		return nil, err
	}
	again := "nictwin " + o.Command + " " + result.Bundle
	portable.Reproduce = again
	for i := range portable.Findings {
		portable.Findings[i].Command = again
	}
	b := &x.Bundle
	i := &b.Info
	i.Schema, i.Command, i.Result, i.Seed = bundle.Schema, o.Command, o.Result, cmp.Or(i.Seed, o.Seed)
	i.Revision, i.Error, i.Failure = o.Revision, portable.Error, o.Failure
	if len(portable.Findings) > 0 {
		i.Finding = &portable.Findings[0]
	}
	if b.Files == nil {
		b.Files = map[string][]byte{}
	}
	if err := errors.Join(x.device(o.Build), x.waves(o)); err != nil {
		return nil, err
	}
	if b.Files[bundle.SummaryFile], err = portable.Text(); err != nil {
		return nil, err
	}
	return b.Bytes()
}

// device describes the RTL device.
func (x *Bundling) device(build string) error {
	if x.DUT == "" {
		return nil
	}
	m, err := manifest.Load(x.DUT)
	if err != nil {
		return err
	}
	text, err := files.Read(x.DUT, bundle.MaxBytes)
	if err != nil {
		return err
	}
	x.Bundle.Info.DUT = &bundle.DUT{Name: DeviceName(x.Home, m), Manifest: hash(text)}
	if !strings.Contains(build, ",") { // a single build
		x.Bundle.Info.DUT.Build = build
	}
	if x.RTL {
		return x.Bundle.AddRTL(m)
	}
	return nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// DeviceName returns the name of a device: that of its folder if it belongs to the home (nictwin's own files) at dir,
// else the one in its manifest.
func DeviceName(dir string, m *manifest.Manifest) string {
	folder := filepath.Base(filepath.Dir(m.Path))
	if dir != "" && filepath.Clean(m.Path) == (home.Home{Dir: dir}).Path(folder) {
		return folder
	}
	return m.Name
}

// waves adds the waveforms that are not too large.
func (x *Bundling) waves(o *result.Object) error {
	for i := range o.Waves {
		info, err := os.Stat(o.Waves[i].FST)
		if err != nil {
			return err
		}
		if info.Size() > bundle.MaxWave {
			x.notes = append(x.notes, fmt.Sprintf("%s is left out: it has %d bytes, a waveform in a bundle at most %d",
				filepath.Base(o.Waves[i].FST), info.Size(), bundle.MaxWave))
			continue
		}
		text, err := files.Read(o.Waves[i].FST, bundle.MaxWave)
		if err != nil {
			return err
		}
		undate(text)
		x.Bundle.Files[fmt.Sprintf("wave-%d.fst", i+1)] = text
	}
	return nil
}

// undate clears the date in the header block of an FST file, so that equal runs leave equal bytes.
func undate(fst []byte) {
	// value of the header block's length field; offset of the date in the file; length of the date
	const header, date, size = 329, 202, 119
	if len(fst) > header && fst[0] == 0 && binary.BigEndian.Uint64(fst[1:]) == header {
		clear(fst[date : date+size])
	}
}

// longestFirst returns pairs for a strings.Replacer, the longest path first, so that no path is replaced as the
// beginning of a longer one.
func longestFirst(names map[string]string) (pairs []string) {
	paths := slices.DeleteFunc(slices.Collect(maps.Keys(names)), func(path string) bool {
		return !strings.ContainsAny(path, "./") // a word, which may mean something else in a text
	})
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	for _, path := range paths {
		pairs = append(pairs, path, names[path])
	}
	return pairs
}
