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

// BoardNames are the presets of boards.
func BoardNames() []string { return board.RackPresetNames }

// Board is a board that is to be shown.
type Board struct {
	Spec string // file or preset
	SVG  string // file that is written; empty: none

	Overwrite bool // SVG may be a file that is no picture of a board
}

// Shown is a board as people and scripts see it.
type Shown struct {
	Text string
	JSON json.RawMessage // every field
	YAML []byte          // likewise
}

// Show reads a board and draws it.
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

// maxSVG is in bytes: more than the picture of any board.
const maxSVG = 64 << 20

// replaceable refuses a file that is no picture of ours, unless the user says that it may be replaced.
func (b *Board) replaceable() error {
	if b.Overwrite {
		return nil
	}
	if info, err := os.Stat(b.SVG); err == nil && !info.Mode().IsRegular() {
		return Usagef("--svg %s: it is there, and no file: want the name of one", b.SVG)
	}
	text, err := files.Read(b.SVG, maxSVG)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (len(text) == 0 || boards.IsSVG(text)):
		return nil
	case err != nil:
		return &UsageError{fmt.Errorf("--svg: %w", err)}
	}
	return Usagef("--svg %s: it is there, and no picture of nictwin's: want another file, or --overwrite", b.SVG)
}
