// Package house tests the rules of the repository that a compiler cannot check: which folder may import which, that
// every folder has a package comment, that tests do not skip, that RTL carries no waivers, that names and links on
// pages exist, that the changelog keeps its form. Each rule states its reason. A rule is changed here or not at all.
package house
