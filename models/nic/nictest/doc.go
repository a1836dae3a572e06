// Package nictest is what tests of models and golden share: frames, work
// entries and patterns of bytes.
//
// Nothing outside tests imports it, and it has no opinion on what is right:
// expectations belong to the tests.
package nictest
