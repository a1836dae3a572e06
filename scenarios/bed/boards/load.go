package boards

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"nictwin/models/board"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/shell/files"
)

// Load returns the board of a preset's name or of a file.
func Load(nameOrFile string) (board.RackSpec, error) {
	if slices.Contains(board.RackPresetNames, nameOrFile) {
		return board.RackPreset(nameOrFile)
	}
	text, err := files.Read(nameOrFile, specfile.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(nameOrFile, "/.") {
		return board.RackSpec{}, fmt.Errorf("board %q: no such preset or file: want a file, or one of %s", nameOrFile,
			strings.Join(board.RackPresetNames, ", "))
	}
	if err != nil {
		return board.RackSpec{}, err
	}
	return board.ParseRack(nameOrFile, text)
}

// Card returns the card of a board on which captures and programs are played.
func Card(nameOrFile string) (*board.CardSpec, error) {
	s, err := Load(nameOrFile)
	if err != nil {
		return nil, err
	}
	var cards []board.CardSpec
	for i, v := range s.All() {
		if v.Memory != nil {
			return nil, fmt.Errorf("board %s: the cards of server %s share its memory (servers[%d].memory): want one "+
				"card with its own to play on", nameOrFile, v.Name, i)
		}
		cards = append(cards, v.Cards...)
	}
	if len(cards) != 1 || s.Network.Kind != board.NetworkOpen {
		return nil, fmt.Errorf("board %s has %d cards and network %s: want one card with open ports to play on",
			nameOrFile, len(cards), s.Network.Kind)
	}
	if at := cards[0].Loaded(); at != "" {
		return nil, fmt.Errorf("board %s: card %s has background loads (%s): only nictwin run ends them: want none "+
			"to play on", nameOrFile, cards[0].Name, at)
	}
	if cards[0].Second != nil {
		return nil, fmt.Errorf("board %s: card %s has a second device (second): want none to play on", nameOrFile,
			cards[0].Name)
	}
	switch c := &cards[0]; c.Device.Kind {
	case board.DeviceAny, board.DeviceModel, board.DeviceRTL:
		return c, nil
	default:
		return nil, fmt.Errorf("board %s: device of kind %s: want the contract's NIC, of kind %s or %s", nameOrFile,
			c.Device.Kind, board.DeviceModel, board.DeviceRTL)
	}
}
