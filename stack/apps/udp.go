package apps

import (
	"reflect"
	"slices"

	"nictwin/models/sim/field"
)

// udpFields lists the fields that workloads over UDP have, by their names in a file.
var udpFields = []string{"kind", "transport", "queue_pairs", "sizes", "count", "depth", "seed", "answer", "every_ps",
	"kv", "chunks", "vxlan"}

// validateUDP rejects options of queue pairs over UDP, and a pace of requests over other transports.
func (s *Spec) validateUDP(bad func(ok bool, path field.Path, format string, a ...any)) {
	if s.Transport != UDP {
		bad(s.Every == 0, "every_ps", "%s: requests over %s follow each other: want none, or %v %s",
			field.Value("every_ps", s.Every),
			s.Transport, field.Path("transport"), UDP)
		return
	}
	const most = int64(1e15)
	bad(s.Every >= 0 && s.Every <= most, "every_ps", "%s: want %s to %s", field.Value("every_ps", s.Every),
		field.Value("every_ps", 0), field.Value("every_ps", most))
	usual := DefaultSpec()
	given, by := reflect.ValueOf(s).Elem(), reflect.ValueOf(usual)
	for i := range given.NumField() {
		name := given.Type().Field(i).Tag.Get("yaml")
		same := reflect.DeepEqual(given.Field(i).Interface(), by.Field(i).Interface())
		bad(same || slices.Contains(udpFields, name), field.Path(name), ": transport %s has no queue pairs: want none",
			UDP)
	}
}
