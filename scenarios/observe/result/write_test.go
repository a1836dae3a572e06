package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build/cache"

	"nictwin/scenarios/coverage"
	"nictwin/scenarios/observe/result/resulttest"
	"nictwin/scenarios/play"
)

// sparse makes every pointer of an object lead to something, and gives every list one element: what is in them has no
// lists yet, as where a run broke off.
func sparse(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case !f.CanSet():
		case f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.Struct:
			f.Set(reflect.New(f.Type().Elem()))
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		}
	}
}

// Wherever a run breaks off, nothing in its object is null.
func TestNothingIsNull(t *testing.T) {
	var o Object
	sparse(reflect.ValueOf(&o).Elem())
	o.Rx, o.Clean, o.RTLCoverage = &Received{}, &cache.Cleaned{}, &coverage.Report{}
	o.Results = []struct {
		List []int `json:"list"`
	}{{}}
	before, err := json.Marshal(&o)
	require.NoError(t, err)
	require.Contains(t, string(before), `"per_queue":null`)
	require.Contains(t, string(before), `"list":null`)
	o.Played.Coverage = &play.Coverage{} // every run that began has one
	var line bytes.Buffer
	require.NoError(t, o.WriteLine(&line))
	require.NotContains(t, line.String(), "null")
	require.Contains(t, line.String(), `"drops":{},"per_queue":[]`)
	require.Contains(t, line.String(), `"list":[]`)
}

// An object that JSON cannot hold is replaced by one that says so.
func TestAnObjectThatCannotBeWritten(t *testing.T) {
	o := Object{Command: "bench", Seed: 7, WallS: math.NaN()}
	o.End(Pass, nil)
	var line bytes.Buffer
	require.ErrorContains(t, o.WriteLine(&line), "unsupported value: NaN")
	s, err := resulttest.Load(resulttest.Summary)
	require.NoError(t, err)
	require.NoError(t, s.Check(line.Bytes()), "%s", line.String())
	require.Contains(t, line.String(), `"command":"bench","result":"infrastructure","seed":7`)
	require.Contains(t, line.String(), "NaN")
}

// fullWriter is a disk that is full.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAnObjectThatNobodyTakes(t *testing.T) {
	var o Object
	o.End(Pass, nil)
	require.ErrorIs(t, o.WriteLine(fullWriter{}), syscall.ENOSPC)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	require.ErrorIs(t, o.WriteLine(full), syscall.ENOSPC)
}

// A second end replaces the first: nothing of it is left.
func TestEndReplaces(t *testing.T) {
	var o Object
	o.End(Infrastructure, errors.New("x"))
	o.End(Pass, nil)
	require.Empty(t, o.Error)
}
