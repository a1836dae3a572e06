// Package ceio plays stack/ceio on NICs in Go and in RTL, with a referee: drawn schedules of arrivals, exhaustion,
// drains and resumes through stack/driver, and servers of stack/hostnet whose packets come by its path. It has tests
// only.
package ceio
