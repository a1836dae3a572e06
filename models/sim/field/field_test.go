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
