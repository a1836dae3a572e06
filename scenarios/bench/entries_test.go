package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/replay"
)

// TestEntriesOfTwoBlocks checks on both NICs that frames from entries of two blocks leave at line rate, and that an
// appended ICRC saves one read per frame.
func TestEntriesOfTwoBlocks(t *testing.T) {
	s := &session{Options: tiny(t), ctx: t.Context()}
	s.Percent = 5
	require.NoError(t, s.build())
	two, err := s.rate("tx", 512, inEntry(replay.TrailerInPayload))
	require.NoError(t, err)
	piece, err := s.rate("tx", appendSize, inEntry(replay.TrailerPiece))
	require.NoError(t, err)
	appended, err := s.rate("tx", appendSize, inEntry(replay.TrailerAppended))
	require.NoError(t, err)
	for _, nic := range []struct {
		name                 string
		two, piece, appended *meter
	}{
		{"rtl", two.rtl, piece.rtl, appended.rtl}, {"model", two.model, piece.model, appended.model},
	} {
		require.Equal(t, len(nic.piece.out), len(nic.appended.out), nic.name)
		require.Equal(t, 2*len(nic.piece.out), nic.piece.reads, "%s: reads with a piece for the ICRC", nic.name)
		require.Equal(t, len(nic.appended.out), nic.appended.reads, "%s: reads with the ICRC appended", nic.name)
		require.LessOrEqual(t, nic.appended.betweenOut(), nic.piece.betweenOut(), "%s: cycles a frame", nic.name)
		require.Positive(t, nic.appended.betweenOut(), nic.name)
		rate, _ := nic.two.sending(usual.beatsOf(512))
		require.GreaterOrEqual(t, rate, 0.95, "%s: line rate of 512 B", nic.name)
		require.Equal(t, len(nic.two.out), nic.two.reads, "%s: reads with headers inline", nic.name)
	}
}

// TestFiguresOfEntries checks that the figures report the reads per frame that TestEntriesOfTwoBlocks counts, and are
// the same in every run.
func TestFiguresOfEntries(t *testing.T) {
	names := []string{"nic/two_block_tx_512", "nic/append_reads", "nic/append_cycles"}
	first, err := Run(t.Context(), tiny(t, names...))
	require.NoError(t, err)
	again, err := Run(t.Context(), tiny(t, names...))
	require.NoError(t, err)
	require.Equal(t, first.Results, again.Results)
	require.Len(t, first.Results, len(names))
	reads := first.Results[1]
	require.Equal(t, 1.0, reads.Value)
	require.True(t, reads.OK && reads.AtMost)
	require.Contains(t, reads.Against, "with a piece for the ICRC: 2; Go model: 1, with a piece 2;")
}
