// Package workload describes the workloads of a scenario file: which servers talk to which, and when.
//
// Each workload is one of package apps, between every server of a list and every server of another. A pair of servers
// has an application on either of them for each process of the workload. Applications of a server are numbered over
// all workloads, in the order of the list; each has a host core, a verbs context and a share of memory of its own.
//
// The package knows neither boards nor stacks: whether a server can run its applications is decided elsewhere.
package workload
