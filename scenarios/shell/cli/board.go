package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"nictwin/models/board"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/shell/files"
)

// BoardNames returns the names of the board presets.
func BoardNames() []string { return board.RackPresetNames }

// Board holds the settings of the board command.
type Board struct {
	Spec string // file or preset
	SVG  string // file to write; empty: none

	Overwrite bool // SVG may replace a file that nictwin has not written
}

// Shown is a board in the forms for people and for scripts.
type Shown struct {
	Text string
	JSON json.RawMessage // all fields of the board
	YAML []byte          // all fields of the board
}

// Show reads a board and formats it.
func (b *Board) Show() (*Shown, error) {
	s, err := boards.Load(b.Spec)
	if err != nil {
		return nil, &UsageError{err}
	}
	x := &Shown{Text: boards.Text(&s)}
	if x.YAML, err = specfile.Marshal(s); err != nil {
		return nil, err
	}
	if x.JSON, err = specfile.JSON(s); err != nil {
		return nil, err
	}
	if b.SVG == "" {
		return x, nil
	}
	if err := b.replaceable(); err != nil {
		return nil, err
	}
	err = files.Write(b.SVG, []byte(boards.SVG(&s)))
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, &UsageError{fmt.Errorf("--svg: %w", err)}
	}
	return x, err
}

// maxSVG bounds the size of the existing file in bytes; the picture of a board is smaller.
const maxSVG = 64 << 20

// replaceable refuses to replace an existing file that is no picture written by nictwin, unless Overwrite is set.
func (b *Board) replaceable() error {
	if b.Overwrite {
		return nil
	}
	if info, err := os.Stat(b.SVG); err == nil && !info.Mode().IsRegular() {
		return Usagef("--svg %s: exists and is not a file: want the name of a file", b.SVG)
	}
	text, err := files.Read(b.SVG, maxSVG)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (len(text) == 0 || boards.IsSVG(text)):
		return nil
	case err != nil:
		return &UsageError{fmt.Errorf("--svg: %w", err)}
	}
	return Usagef("--svg %s: exists and is not a picture by nictwin: want another file, or --overwrite", b.SVG)
}
