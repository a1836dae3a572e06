package run

import (
	"bytes"
	"errors"
	"reflect"
	"slices"

	"nictwin/models/board"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/shell/home"
)

// YAML returns the text of a file from which Parse makes this scenario, which must have no sweep. The file has the
// fields that differ from their defaults; for the board, from the preset that it is, or else from the one that makes
// the file shortest.
func (s *Spec) YAML() ([]byte, error) {
	base := DefaultSpec()
	text, err := specfile.MarshalOver(s, &base, nil)
	texts, errs := [][]byte{text}, []error{err}
	for _, name := range s.presets() {
		var err1, err2 error
		base.Board, err1 = board.RackPreset(name)
		text, err2 := specfile.MarshalOver(s, &base, map[string]string{"board": name})
		texts, errs = append(texts, text), append(errs, err1, err2)
	}
	want, err := specfile.Marshal(s)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(texts, func(a, b []byte) int { return len(a) - len(b) })
	for _, text := range texts {
		again, err := Parse(s.Name, text)
		if err != nil || len(again) != 1 { // for instance, the board cannot be written as changes of this preset
			continue
		}
		if got, err := specfile.Marshal(&again[0].Spec); err == nil && bytes.Equal(want, got) {
			return text, nil
		}
	}
	return nil, errors.New("a scenario that its file would not give: want fields of a scenario file")
}

// presets lists the presets from which the board may be written: the one that it is, or else all.
func (s *Spec) presets() []string {
	for _, name := range board.RackPresetNames {
		if b, err := board.RackPreset(name); err == nil && reflect.DeepEqual(b, s.Board) {
			return []string{name}
		}
	}
	return board.RackPresetNames
}

// Alone returns the case as a scenario without a sweep, whose paths do not depend on the folder of its file.
func (c *Case) Alone() Spec {
	s := c.Spec
	s.Background = slices.Clone(s.Background)
	for i := range s.Background {
		s.Background[i].Capture = c.beside(s.Background[i].Capture)
	}
	s.Devices = append([]board.DeviceSpec(nil), s.Devices...)
	for i := range s.Devices {
		c.fix(&s.Devices[i])
	}
	s.Board.Servers = append([]board.ServerSpec(nil), s.Board.Servers...)
	for i := range s.Board.Servers {
		v := &s.Board.Servers[i]
		v.Cards = append([]board.CardSpec(nil), v.Cards...)
		for k := range v.Cards {
			c.fix(&v.Cards[k].Device)
		}
	}
	return s
}

// fix resolves the manifest of a device.
func (c *Case) fix(d *board.DeviceSpec) {
	if d.DUT != "" && !home.IsWord(d.DUT) {
		d.DUT = c.beside(d.DUT)
	}
}
