package quantity

// DecodeWord sets the time to the one that a file gives (specfile.WordDecoder).
func (t *Time) DecodeWord(word string) error { return set(t, word, ParseTime) }

// DecodeWord sets the number of bytes to the one that a file gives (specfile.WordDecoder).
func (b *Bytes) DecodeWord(word string) error { return set(b, word, ParseBytes) }

// DecodeWord sets the rate to the one that a file gives (specfile.WordDecoder).
func (r *Rate) DecodeWord(word string) error { return set(r, word, ParseRate) }

// DecodeWord sets the frequency to the one that a file gives (specfile.WordDecoder).
func (f *Frequency) DecodeWord(word string) error { return set(f, word, ParseFrequency) }

func set[T any](to *T, word string, parse func(string) (T, error)) error {
	v, err := parse(word)
	if err == nil {
		*to = v
	}
	return err
}

// MarshalText writes the time as String does (encoding.TextMarshaler).
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalText writes the number of bytes as String does (encoding.TextMarshaler).
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// MarshalText writes the rate as String does (encoding.TextMarshaler).
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// MarshalText writes the frequency as String does (encoding.TextMarshaler).
func (f Frequency) MarshalText() ([]byte, error) { return []byte(f.String()), nil }
