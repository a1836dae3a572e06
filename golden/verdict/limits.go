package verdict

// limit identifies one of the referee's own bounds. Beyond it, something is not judged, or judged in the device's
// favour, and that is counted.
type limit uint8

// The referee's own bounds; LimitNames describes them.
const (
	LimitClaims limit = iota
	LimitStops
	LimitPauses
	LimitHashes
	LimitSettings
	LimitDoorbells
	LimitRetired
	LimitCopyWrites
	numLimits
)

// LimitNames describes the gap in the judgement beyond each bound.
var LimitNames = [numLimits]string{
	LimitClaims:    "[F6] claims on the buffer's level forgotten: too many at a time",
	LimitStops:     "[F4] pause frames forgotten that may still stop something: too many came since",
	LimitPauses:    "[F6] pause frames not compared: PortCfg or PORT_MAC was written too often before",
	LimitHashes:    "[S4] hashes not compared: RSS_KEY was written too often while the frame came in",
	LimitSettings:  "[P10] settings of DEVCTL taken as one: too many at a time",
	LimitDoorbells: "[R9] frames that may lack a descriptor, since too many doorbells came in 64 cycles",
	LimitRetired: "[T4] work entries forgotten to which reads of shared memory may have belonged: too many ended " +
		"since",
	LimitCopyWrites: "[D2] writes not followed that any of several copies may have made: too many at a time",
}

// Limit says how often one of the referee's own bounds was exceeded.
type Limit struct {
	What  string `json:"what"`
	Count uint64 `json:"count"`
}

// CountLimit counts that a bound was exceeded, a number of times.
func (l *Log) CountLimit(what limit, times uint64) { l.met[what] += times }

// Limits returns the bounds that were exceeded, and how often.
func (l *Log) Limits() (list []Limit) {
	for i, n := range l.met {
		if n > 0 {
			list = append(list, Limit{LimitNames[i], n})
		}
	}
	return list
}
