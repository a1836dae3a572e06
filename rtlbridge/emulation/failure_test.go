package emulation

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// TestBoardsThatFail checks that a board that ends, answers nonsense or was built from something else is an error of
// the infrastructure, soon, and that the error says which.
func TestBoardsThatFail(t *testing.T) {
	m := load(t, "fifo/lanes.yaml")
	direct, err := build.Build(m, build.Options{Log: os.Stderr})
	require.NoError(t, err)
	agent, err := Build(m, DefaultOptions(), build.Options{Log: os.Stderr})
	require.NoError(t, err)
	board, hash := agent.Args[1], agent.Args[3]
	file := record(t, direct, 1).file
	for _, x := range []struct{ board, hash, fault string }{
		{"/bin/true", hash, "the board"},
		{"/no/such/board", hash, "the board"},
		{"/bin/cat", hash, "the board does not answer within 10 s"},
		{board, strings.Repeat("0", len(hash)), "it was built from something else: its hash is " + hash},
	} {
		broken := *agent
		broken.Args = []string{"--board", x.board, "--board-hash", x.hash}
		_, err := build.Playback(t.Context(), &broken, file)
		var infra *protocol.InfraError
		require.ErrorAs(t, err, &infra, x.board)
		require.ErrorContains(t, err, x.fault)
	}
}
