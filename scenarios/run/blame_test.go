package run

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/field"
	"nictwin/models/sim/specfile"
	"nictwin/stack/flexins/node"
)

// eachField visits the path of every field of a spec that holds a value itself, and not further fields.
func eachField(t reflect.Type, at string, visit func(path string, k reflect.Kind)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		visit(at, t.Kind())
		return
	}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(opts, "inline"):
			eachField(t.Field(i).Type, at, visit)
		case name != "" && name != "-":
			eachField(t.Field(i).Type, at+"."+name, visit)
		}
	}
}

// valuesOf returns values at both ends of the range of a kind of field, and values outside of it.
func valuesOf(k reflect.Kind) []string {
	switch k {
	case reflect.Bool:
		return []string{"true", "false"}
	case reflect.String:
		return []string{"x", "uc", "ud", "raw", "solar", "write_imm", "pull", "remote_key", "deregister"}
	case reflect.Slice:
		return []string{"[]", "[0]", "[-1]", "[4096]"}
	}
	return []string{"-1", "0", "1", "2", "9", "1000", "8192", "1000000000"}
}

// nested returns YAML that sets the field at a path to a value.
func nested(path, value string) string {
	keys := strings.Split(path, ".")
	return strings.Join(keys, ": {") + ": " + value + strings.Repeat("}", len(keys)-1)
}

// blamed parses a scenario and returns the number of errors. Each error must name a field that the file sets under one
// of the keys, never a default.
func blamed(t *testing.T, text string, keys ...string) int {
	t.Helper()
	_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+text))
	all := field.Each(err)
	for _, one := range all {
		e, ok := one.(*specfile.Error)
		require.True(t, ok, "%s%v", text, one)
		leaf, _, _ := strings.Cut(string(e.Path)[strings.LastIndexByte(string(e.Path), '.')+1:], "[")
		// every file sets these two, since they are required
		stated := e.Path == "stacks[0].kind" || e.Path == "workload.misuse.what"
		require.True(t, stated || slices.Contains(keys, leaf), "%s%v", text, one)
	}
	return len(all)
}

// Setting any single field, alone or beside a kind of workload that has rules of its own, gives only errors about
// fields in the file, never about defaults.
func TestErrorsBlameWhatIsWritten(t *testing.T) {
	const onCards = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"
	refused := 0
	eachField(reflect.TypeFor[Spec](), "", func(path string, k reflect.Kind) {
		path = path[1:]
		part, within, _ := strings.Cut(path, ".")
		if !slices.Contains([]string{"workload", "faults", "expect", "limits"}, part) {
			return
		}
		for _, v := range valuesOf(k) {
			keys := strings.Split(path, ".")
			refused += blamed(t, onCards+nested(path, v), keys...) + blamed(t, onRNICs+nested(path, v), keys...)
			if part != "workload" {
				continue
			}
			for _, kind := range []string{"ping_pong", "ring", "list_walk", "batched_read", "atomics", "read"} {
				refused += blamed(t, onRNICs+"workload: {kind: "+kind+", "+nested(within, v)+"}",
					append(keys, "kind")...)
			}
		}
	})
	eachField(reflect.TypeFor[node.Spec](), ".flexins", func(path string, k reflect.Kind) {
		for _, v := range valuesOf(k) {
			refused += blamed(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, "+nested(path[1:],
				v)+"}]\n", strings.Split(path, ".")...)
		}
	})
	require.Greater(t, refused, 1000)
}
