package program

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"

	"nictwin/models/sim/specfile"
)

// Parse reads a program. It reports all errors at once, each with the number and kind of its operation: operations
// are parsed one by one.
func Parse(text []byte) (*Program, error) {
	var f struct {
		Program
		Ops []json.RawMessage `json:"ops"`
	}
	v := validator{op: -1}
	if err := specfile.RecogniseJSON(text, "schema", "seed", "board", "ops"); err != nil {
		v.is(false, "%v", err)
		return nil, errors.Join(v.errs...)
	}
	err := strictly(text, &f)
	if err != nil {
		v.is(false, "%s", inWords(err, text))
	}
	if !json.Valid(text) { // not JSON, so the next operation cannot be found: report a single error
		return nil, errors.Join(v.errs...)
	}
	p := &f.Program
	p.Ops = make([]Op, len(f.Ops))
	if err == nil {
		v.board(p)
	}
	for i, text := range f.Ops {
		err := strictly(text, &p.Ops[i])
		v.at(i, &p.Ops[i])
		if err == nil {
			v.check(&p.Ops[i])
		} else {
			v.is(false, "%s%s", inWords(err, text), v.meant(err))
		}
	}
	return p, errors.Join(v.errs...)
}

var errFollows = errors.New("something follows the object")

// strictly parses JSON into a value. Unknown fields and text after the value are errors.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errFollows
	}
	return nil
}

// embedded matches names of Go types within field paths: fields begin with small letters.
var embedded = regexp.MustCompile(`\b[A-Z][A-Za-z]*\.`)

// inWords turns an error of package json into one that says where the fault is and what would be right.
func inWords(err error, text []byte) string {
	var kind *json.UnmarshalTypeError
	var broken base64.CorruptInputError
	if what, ok := specfile.JSONSyntax(err, text); ok {
		return what
	}
	switch {
	case errors.As(err, &broken):
		return fmt.Sprintf("bytes of a frame are no base 64 from character %d on", int64(broken))
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is %s: want %s", cmp.Or(embedded.ReplaceAllString(kind.Field, ""), "it"),
			shown(kind.Value), wanted(kind.Type))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// meant adds the list of operation kinds to an error about an unknown kind.
func (v *validator) meant(err error) string {
	if v.kind != "" || !strings.HasPrefix(err.Error(), "json: unknown field ") {
		return ""
	}
	return ": want one of wait, " + strings.Join(kinds(), ", ")
}

// shown describes, for an error, a value of a wrong type; value is package json's name for that type.
func shown(value string) string {
	if number, ok := strings.CutPrefix(value, "number "); ok {
		return number
	}
	switch value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + value
}

// wanted describes, for an error, what a value of a type looks like in the file.
func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case k == reflect.Int || k == reflect.Int64 || k == reflect.Uint64:
		return "a whole number in digits, of 64 bits"
	case k >= reflect.Int && k <= reflect.Int64:
		top := uint64(1) << (t.Bits() - 1)
		return fmt.Sprintf("a whole number from -%d to %d", top, top-1)
	case k >= reflect.Uint && k <= reflect.Uint64:
		return fmt.Sprintf("a whole number from 0 to %d", ^uint64(0)>>(64-t.Bits()))
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.String:
		return "a string"
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && t != reflect.TypeFor[json.RawMessage]():
		return "bytes as a string in base 64"
	case k == reflect.Slice || k == reflect.Array:
		return "a list"
	}
	return "an object"
}
