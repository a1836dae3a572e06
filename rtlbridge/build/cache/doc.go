// Package cache manages the folder of builds: their records, the locks of builders, scratch folders, and cleaning. It
// knows names and files, not what was built.
//
// Invariants: a build that a process makes or uses is not removed by another; leftovers of a killed process are removed
// by the next one. Files without a name of the cache's own are never touched.
package cache
