package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// JSONError returns an error about text that is not the JSON wanted, in words of JSON instead of Go: the field, what it
// has, and what it should have.
func JSONError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("is of kind %s: want %s", wrong.Value, jsonKind(wrong.Type))
		}
		return fmt.Errorf("%s: %s: want %s", wrong.Field, wrong.Value, jsonKind(wrong.Type))
	}
	if _, field, ok := strings.Cut(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("field %s: no such field: want those of its schema in docs/schema", field)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// jsonKind names what JSON has for a Go type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of 0 or more"
	}
	return "a whole number"
}
