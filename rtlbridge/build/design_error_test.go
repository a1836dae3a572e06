package build

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build/sources"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

// TestWhoseFault checks that a failure of Verilator is a DesignError if an error has a place in the design,
// otherwise a BuildError of the tool.
func TestWhoseFault(t *testing.T) {
	m, err := manifest.Parse("dut.yaml", []byte(strings.Replace(manifesttest.Good, "top: m", "top: m\nparameters: "+
		"{Depth: 3, Width: 8}", 1)))
	require.NoError(t, err)
	b := &builder{m: m, src: &sources.Set{}}
	for _, x := range []struct {
		out  string
		want error // an error of the expected type
		text string
	}{
		{"%Error: a.sv:2:14: syntax error, unexpected ';'\n    2 | x\n      | ^\n%Error: Exiting due to 1 error(s)\n",
			&DesignError{}, "the design has 1 error\n%Error: a.sv:2:14: syntax"},
		{"%Error-UNSUPPORTED: rtl/a b.sv:2: Unsupported: x\n", &DesignError{}, "the design has 1 error\n"},
		{"%Error: a.sv:9:1: the range is huge\n    9 | logic [Depth-1:0] q\n", &DesignError{},
			"the design has 1 error, with Depth = 3\n"},
		{"%Error-USERFATAL: a.sv:9:1: Width must be 16\n", &RefusedError{}, "refuses Width = 8: Width must be 16"},
		{"%Error: Internal Error: a.sv:1:8: ../V3Ast.cpp:7: unexpected\n", &toolchain.BuildError{}, "Internal Error"},
		{"%Warning-WIDTH: a.sv:1:8: narrow\n%Error: Verilator internal fault, sorry.\n", &toolchain.BuildError{},
			"internal fault"},
		{"%Error: Cannot write obj/Vdut.h\n%Error: Exiting due to 1 error(s)\n", &toolchain.BuildError{},
			"Cannot write"},
		{"", &toolchain.BuildError{}, "exit status 1"},
	} {
		failed := &toolchain.BuildError{Step: "verilating m", Output: firstErrors("", x.out),
			Err: errors.New("exit status 1")}
		err := b.refused(failed, x.out)
		require.IsType(t, x.want, err, x.out)
		require.ErrorContains(t, err, x.text)
	}
}

// TestFirstErrors checks that the first errors are shown whole, however many warnings there are.
func TestFirstErrors(t *testing.T) {
	var out strings.Builder
	for i := range 250 {
		fmt.Fprintf(&out, "%%Warning-IMPLICIT: a.sv:%d:1: implicit\n  %d | x\n    | ^\n", i+1, i+1)
	}
	for i := range 60 {
		fmt.Fprintf(&out, "%%Error: a.sv:%d:1: wrong\n  | ^\n", i+300)
	}
	out.WriteString("%Error: Exiting due to 60 error(s), 250 warning(s)\n        ... See the manual\n")
	shown := firstErrors("", out.String())
	require.True(t, strings.HasPrefix(shown, "%Error: a.sv:300:1: wrong\n  | ^\n%Error: a.sv:301:1"), shown)
	require.True(t, strings.HasSuffix(shown, "... and 40 more errors\n(250 warnings left out)\n"), shown)
	require.Equal(t, "a\nb\n", firstErrors("", "a\nb\n"))
	remarks := readRemarks(out.String())
	require.Len(t, remarks, 310)
	require.Equal(t, "a.sv:1: IMPLICIT: implicit", remarks[0].String())
}

func FuzzReadRemarks(f *testing.F) {
	f.Add("%Warning-WIDTH: a.sv:1:8: narrow\n  1 | x\n%Error: b.sv:3: wrong\n%Error: Exiting due to 1 error(s)\n")
	f.Fuzz(func(t *testing.T, out string) {
		for _, r := range readRemarks(out) {
			require.Contains(t, out, r.whole)
			require.GreaterOrEqual(t, r.Line, 0)
		}
		require.LessOrEqual(t, strings.Count(firstErrors("", out), "\n"), 2*toolchain.MaxToolLines+3)
	})
}
