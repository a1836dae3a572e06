package device

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"

	"nictwin/scenarios/observe/waves"
	"nictwin/scenarios/observe/waves/fst"
)

// Wave describes the waveforms that locally started RTL devices dump. Such devices use a build that can dump them.
type Wave struct {
	Dir    string // folder for the files
	Slot   string // name of the device to dump, or of the server or card with the devices to dump; empty: all
	Policy waves.Policy
	Failed bool // the run failed, in cycle At of the device
	At     uint64
	Marks  []waves.Mark

	// Module is an RTL module whose signals the save files show as well; empty: no further signals.
	Module string

	// Left lists the files of the devices started so far. It is complete once the devices are closed and Save was
	// called.
	Left []WaveFiles
}

// WaveFiles are the files of one device.
type WaveFiles struct {
	FST      string
	SaveFile string // save file for GTKWave
	From, To uint64 // first and last cycle, counted by the device
	view     waves.View
}

// Names of the files if only one device is dumped.
const (
	FSTFile      = "wave.fst"
	WaveSaveFile = "wave.gtkw"
)

// of returns the waveform for the device in a slot, or nil for none.
func (w *Wave) of(slot string) *Wave {
	if w == nil || w.Slot != "" && w.Slot != slot && !strings.HasPrefix(slot, w.Slot+".") {
		return nil
	}
	return w
}

// file returns the name of the waveform file of the device in a slot. An empty slot name stands for the only slot.
func (w *Wave) file(slot string) string {
	if slot == "" {
		return filepath.Join(w.Dir, FSTFile)
	}
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return -1
	}, slot)
	return filepath.Join(w.Dir, "wave-"+clean+filepath.Ext(FSTFile))
}

// begin records that a device has started.
func (w *Wave) begin(slot string, dev *build.Device, period simcore.Ps) {
	left := WaveFiles{FST: w.file(slot)}
	left.From, left.To, _ = w.Policy.Cycles(w.Failed, w.At, period)
	left.SaveFile = strings.TrimSuffix(left.FST, filepath.Ext(left.FST)) + filepath.Ext(WaveSaveFile)
	left.view = waves.View{Manifest: dev.Manifest, Ports: dev.Ports, FST: left.FST, Period: period, Marks: w.Marks}
	w.Left = append(w.Left, left)
}

// Save writes the viewer's save files, once the devices are closed.
func (w *Wave) Save(ctx context.Context, log io.Writer) error {
	for i := range w.Left {
		l := &w.Left[i]
		if err := l.blocks(ctx, w.Module, log); err != nil {
			return fmt.Errorf("waveform: %w", err)
		}
		if err := os.WriteFile(l.SaveFile, []byte(l.view.SaveFile()), 0o644); err != nil {
			return fmt.Errorf("waveform: %w", err)
		}
	}
	return nil
}

// blocks finds the instances of a module in the waveform.
func (l *WaveFiles) blocks(ctx context.Context, module string, log io.Writer) error {
	if module == "" {
		return nil
	}
	paths, err := build.Instances(l.view.Manifest, module,
		build.Options{Variant: build.VariantWaves, Context: ctx, Log: log})
	if err != nil {
		return err
	}
	file, err := fst.Read(l.FST)
	if err != nil {
		return err
	}
	l.view.Blocks = waves.BlocksOf(paths, file.Signals)
	return nil
}
