package board

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/field"
	"nictwin/models/sim/specfile"
)

// eachField visits every field of a spec that holds a value, with its path. Nil pointers and empty
// lists are skipped.
func eachField(v reflect.Value, at string, visit func(path string, k reflect.Kind)) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		visit(at, v.Kind())
		return
	}
	for i := range v.NumField() {
		name, opts, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(opts, "inline"):
			eachField(v.Field(i), at, visit)
		case name != "" && name != "-":
			eachField(v.Field(i), at+"."+name, visit)
		}
	}
}

// TestErrorsNameTheWrittenField sets each field of a preset to odd values. The error must name that
// field, never one that only the preset has set and the user did not write.
func TestErrorsNameTheWrittenField(t *testing.T) {
	refused := 0
	try := func(head, path, tail string, k reflect.Kind) {
		keys := strings.Split(path[1:], ".")
		values := []string{"-1", "0", "1", "9", "8192", "1000000000"}
		if k == reflect.String {
			values = []string{"x"}
		}
		for _, v := range values {
			text := head + strings.Join(keys, ": {") + ": " + v + strings.Repeat("}", len(keys)-1) + tail
			_, err := ParseRack("f.yaml", []byte(text))
			for _, one := range field.Each(err) {
				e, ok := one.(*specfile.Error)
				require.True(t, ok, "%s%v", text, one)
				leaf, _, _ := strings.Cut(string(e.Path)[strings.LastIndexByte(string(e.Path), '.')+1:], "[")
				require.True(t, slices.Contains(keys, leaf), "%s%v", text, one)
				refused++
			}
		}
	}
	for _, preset := range []string{"bf3", "bf2-cores", "connectx6-cores"} {
		s, err := CardPreset(preset)
		require.NoError(t, err)
		eachField(reflect.ValueOf(s), "", func(path string, k reflect.Kind) {
			try("servers:\n- preset: "+preset+"\n  cards: [{preset: "+preset+", ", path, "}]\n", k)
		})
	}
	r, err := RackPreset("bf2-fleet")
	require.NoError(t, err)
	eachField(reflect.ValueOf(r.Network), ".network",
		func(path string, k reflect.Kind) { try("preset: bf2-fleet\n", path, "\n", k) })
	require.Greater(t, refused, 500)
}
