package emulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// talking is a device that reads a plusarg and random numbers, prints, and ends the simulation at a beat of 255.
const talking = `module t(input ck, input rn, input v, input [7:0] d, output logic qv, output logic [7:0] qd);
  logic [7:0] key = 0;
  initial if (!$value$plusargs("key=%d", key)) key = 0;
  always_ff @(posedge ck) begin
    qv <= v && rn;
    qd <= d ^ key ^ 8'($urandom);
    if (v && rn && $test$plusargs("print") != 0) $fwrite(32'h8000_0001, "printed where the link is");
    if (v && rn && d == 8'hff) begin
      $display("the last word");
      $finish;
    end
  end
endmodule
`

// TestDesignTalks checks that plusargs and the seed reach a design behind a shell, that what it prints disturbs
// nothing, and that a session ends with the design's reason if it ends the simulation.
func TestDesignTalks(t *testing.T) {
	m := write(t, talking, passingManifest)
	direct, err := build.Build(m, build.Options{})
	require.NoError(t, err)
	agent, err := Build(m, DefaultOptions(), build.Options{})
	require.NoError(t, err)
	digests := map[uint64]bool{}
	for _, key := range []string{"+key=0", "+key=5"} {
		file := record(t, direct, 5, 1).file
		want, err := build.Playback(t.Context(), direct, file, key)
		require.NoError(t, err)
		got, err := build.Playback(t.Context(), agent, file, key, "+print")
		require.NoError(t, err)
		require.False(t, want.Stopped, "another seed is needed")
		require.Equal(t, want.Digest, got.Digest, key)
		digests[got.Digest] = true
	}
	require.Len(t, digests, 2)

	c, err := rtlbridge.Launch(agent, rtlbridge.LaunchOptions{})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Start(c.NewStart(1)))
	require.NoError(t, c.Add(0, 500, []byte{255}, nil))
	require.NoError(t, c.SendRun(recordedCycles*10))
	for range 2 {
		var ran *protocol.Ran
		if err == nil {
			ran, err = c.Recv()
		}
		var e protocol.Record
		for ok := true; ok && err == nil; {
			ok, err = c.Next(ran, &e)
		}
		if err == nil {
			err = c.SendRun(recordedCycles)
		}
	}
	var said *protocol.DeviceError
	require.ErrorAs(t, err, &said)
	require.Equal(t, protocol.CodeFinish, said.Code)
	require.Contains(t, said.Text, "the last word")
	require.Contains(t, said.Text, "$finish")
}

// TestFaultsHappen checks that a link with faults has them, and that frames are sent again.
func TestFaultsHappen(t *testing.T) {
	direct, agent := lanes(t)
	faulty := *agent
	faulty.Args = append(append([]string{}, agent.Args...), "--link-faults", "5")
	words, err := played(&faulty, record(t, direct, 2, 10).file)
	require.NoError(t, err)
	at := strings.Index(words, "link: ")
	require.GreaterOrEqual(t, at, 0, words)
	var struck, again int
	_, err = fmt.Sscanf(words[at:], "link: %d frames lost, doubled or damaged, %d sent again", &struck, &again)
	require.NoError(t, err, words)
	require.Positive(t, struck)
	require.Positive(t, again)
	words, err = played(agent, record(t, direct, 2, 10).file)
	require.NoError(t, err)
	require.NotContains(t, words, "link: ")
}
