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

// sparse sets every nil pointer of an object to a zero value and every list to one zero element, whose own lists are
// nil, as in a run that broke off.
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

// TestNothingIsNull checks that the object of a run that broke off anywhere has no null in it.
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

// TestAnObjectThatCannotBeWritten checks that an object that JSON cannot represent is replaced by one that reports this
// as an infrastructure error.
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

// fullWriter fails like a full disk.
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

// TestEndReplaces checks that a second call of End replaces the first completely.
func TestEndReplaces(t *testing.T) {
	var o Object
	o.End(Infrastructure, errors.New("x"))
	o.End(Pass, nil)
	require.Empty(t, o.Error)
}
