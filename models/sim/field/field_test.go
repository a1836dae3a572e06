package field

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTexts(t *testing.T) {
	flag := func(p Path) string { return "--" + string(p) }
	for _, x := range []struct {
		err           *Error
		text, spelled string
	}{
		{Errorf("nic", "%q: want rtl or model", "x"), `nic "x": want rtl or model`, `--nic "x": want rtl or model`},
		{Errorf("ports", "is %d: want 1 to %d", 3, 2), "ports is 3: want 1 to 2", "--ports is 3: want 1 to 2"},
		{Errorf("dut", ": %w", io.EOF), "dut: EOF", "--dut: EOF"},
		{Errorf("runs", "0 and %s 0: want one of them", Path("time")), "runs 0 and time 0: want one of them",
			"--runs 0 and --time 0: want one of them"},
	} {
		require.EqualError(t, x.err, x.text)
		require.Equal(t, x.spelled, x.err.Spelled(flag))
	}
	require.ErrorIs(t, Errorf("dut", ": %w", io.EOF), io.EOF)
}

// TestUnder: errors of nested specs have the whole path; errors that are no field.Error have the
// path of the nested spec.
func TestUnder(t *testing.T) {
	inner := errors.Join(Errorf("tags", "is 0"), errors.Join(Errorf("runs", "and %s", Path("time")), io.EOF))
	err := Under("cards[0]", Under("endpoint", inner))
	require.EqualError(t, err, "cards[0].endpoint.tags is 0\ncards[0].endpoint.runs and "+
		"cards[0].endpoint.time\ncards[0].endpoint: EOF")
	require.ErrorIs(t, err, io.EOF)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, Path("cards[0].endpoint.tags"), e.Path)
	require.EqualError(t, inner, "tags is 0\nruns and time\nEOF", "what was moved stays as it was")
	require.NoError(t, Under("x", nil))
}

// TestOthers: the other fields that an error concerns get the same path prefix as its own field.
func TestOthers(t *testing.T) {
	err := Under("cards[0]", Against(errors.Join(Errorf("tags", "and %s", Path("time")), io.EOF), "ports", "stall"))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, []Path{"cards[0].time", "cards[0].ports", "cards[0].stall"}, e.Others())
	require.EqualError(t, e, "cards[0].tags and cards[0].time")
	require.NoError(t, Against(nil, "x"))
}

// TestEach: Each splits only errors made by errors.Join. A text around several errors is one error.
func TestEach(t *testing.T) {
	two := fmt.Errorf("%w, %w", io.EOF, io.ErrUnexpectedEOF)
	require.Equal(t, []error{io.EOF, two, io.ErrNoProgress},
		Each(errors.Join(io.EOF, errors.Join(two, io.ErrNoProgress))))
	require.Empty(t, Each(nil))
}

// TestWithin checks bounds, and that values have the unit of the field's name.
func TestWithin(t *testing.T) {
	require.NoError(t, Within[int64]("a.time_ps", 5, 5, 6))
	for want, err := range map[string]error{
		"a.time_ps 0ps: want 1us to 1ms":              Within[int64]("a.time_ps", 0, 1e6, 1e9),
		"rate_bps 5bps: want 1Mbps to 1Gbps":          Within[int64]("rate_bps", 5, 1e6, 1e9),
		"x.size_bytes 3B: want 64B to 1MiB":           Within("x.size_bytes", 3, 64, 1<<20),
		"bytes 18446744073709551615: want 1B to 4KiB": Within[uint64]("bytes", 1<<64-1, 1, 4096),
		"tags 7: want 1 to 6":                         Within("tags", 7, 1, 6),
		"rx_bytes_ps.log 7: want 1 to 6":              Within("rx_bytes_ps.log", 7, 1, 6),
	} {
		require.EqualError(t, err, want)
	}
}
