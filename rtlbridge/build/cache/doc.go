// Package cache is the folder that builds lie in: their records, the locks of those who build, scratch folders, and
// what may be cleaned away. It knows names and files, not what was built.
//
// Invariants: what a process builds or uses is not removed by another; of what a killed one left, the next to come
// clears up. Nothing is touched that has not a name of the cache's own.
package cache
