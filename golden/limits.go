package golden

// limit is a bound of the referee's own. What lies beyond it is not judged, or
// judged in the device's favour, and counted.
type limit uint8

const (
	limitClaims limit = iota
	limitStops
	limitPauses
	limitHashes
	limitSettings
	limitDoorbells
	limitGhosts
	limitCopyWrites
	numLimits
)

var limitNames = [numLimits]string{
	limitClaims:     "[F6] claims on the buffer's level forgotten: too many at a time",
	limitStops:      "[F4] pause frames forgotten that may still stop something: too many came since",
	limitPauses:     "[F6] pause frames not compared: PortCfg or PORT_MAC was written too often before",
	limitHashes:     "[S4] hashes not compared: RSS_KEY was written too often while the frame came in",
	limitSettings:   "[P10] settings of DEVCTL taken as one: too many at a time",
	limitDoorbells:  "[R9] frames that may lack a descriptor, since too many doorbells came in 64 cycles",
	limitGhosts:     "[T4] work entries forgotten to which reads of shared memory may have belonged: too many ended since",
	limitCopyWrites: "[D2] writes not followed that any of several copies may have made: too many at a time",
}

// Limit counts how often a bound of the referee's own kept it from judging.
type Limit struct {
	What  string `json:"what"`
	Count uint64 `json:"count"`
}

// limits is how often each was met.
func (r *Referee) limits() (list []Limit) {
	n := r.met
	n[limitHashes] += r.ver.rss.lost
	n[limitSettings] += r.devctl.lost
	for i := range r.rx.queues {
		n[limitDoorbells] += r.rx.queues[i].lost
	}
	for i := range n {
		if n[i] > 0 {
			list = append(list, Limit{limitNames[i], n[i]})
		}
	}
	return list
}
