package memmap

import (
	"fmt"

	"nictwin/models/memory/mem"
)

// Read implements mem.Backdoor.
func (m *Map) Read(addr uint64, b []byte) error {
	return m.view(mem.Read, addr, b, func(v mem.Backdoor, addr uint64, b []byte) error { return v.Read(addr, b) })
}

// Write implements mem.Backdoor.
func (m *Map) Write(addr uint64, b []byte) error {
	return m.view(mem.Write, addr, b, func(v mem.Backdoor, addr uint64, b []byte) error { return v.Write(addr, b) })
}

func (m *Map) view(op mem.Op, addr uint64, b []byte, f func(v mem.Backdoor, addr uint64, b []byte) error) error {
	if err := m.Check(op, addr, len(b)); err != nil {
		return err
	}
	for len(b) > 0 {
		r := m.find(addr)
		if r.View == nil {
			return fmt.Errorf("memmap: region %s shows its bytes to accesses only", r.Name)
		}
		k := r.span(addr, len(b))
		if err := f(r.View, addr, b[:k]); err != nil {
			return err
		}
		addr, b = addr+uint64(k), b[k:]
	}
	return nil
}

// Watch calls f after every write that touches the n bytes at addr. The range must lie in one
// region.
func (m *Map) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	r := m.find(addr)
	switch {
	case r == nil || n > r.span(addr, n):
		return nil, fmt.Errorf("memmap: watch of %d B at %#x: want a range in one region", n, addr)
	case r.Watcher == nil:
		return nil, fmt.Errorf("memmap: watch of %d B at %#x: region %s does not tell of writes", n, addr, r.Name)
	}
	return r.Watcher.Watch(addr, n, f)
}

var _ mem.Backdoor = (*Map)(nil)
