// Package house holds the rules of the repository that a compiler cannot: which folder may import which, that
// every folder says what it is for, that tests do not skip, that RTL carries no waivers, that pages name and
// link to what exists, that the changelog keeps its form. It contains tests only; each rule carries its reason, and a
// rule is changed here or not at all.
package house
