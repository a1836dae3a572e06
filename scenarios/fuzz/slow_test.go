package fuzz

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board/boardtest"
	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/fuzz/player"
)

// Programs pass on boards with links, memories and clocks of any speed that player.CheckCard accepts.
func TestProgramsOnSlowBoards(t *testing.T) {
	long, err := strconv.Atoi(os.Getenv("NICTWIN_LONG"))
	if err != nil {
		long = 1
	}
	runs := 40 * long
	refused, file := 0, filepath.Join(t.TempDir(), "board.yaml")
	for seed := range uint64(runs) {
		c, err := boardtest.Card(seed)
		require.NoError(t, err)
		if err := player.CheckCard(&c); err != nil {
			require.ErrorContains(t, err, "CPL_TIMEOUT", "seed %d", seed)
			refused++
			continue
		}
		text, err := boardtest.File(&c)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		_, err = boards.Card(file)
		require.NoError(t, err)
		o := options(device.Model, 4)
		o.Seed, o.Board, o.Shrink = seed, file, false
		passes(t, o)
		if t.Failed() {
			t.Fatalf("board of seed %d: %s", seed, text)
		}
	}
	require.Less(t, refused, runs/2)
}
