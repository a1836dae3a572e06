// Package nictest has helpers for the tests in folders models and golden: frames, work entries, byte patterns and an
// endpoint.
//
// Nothing outside tests imports it, and it does not judge what is right: expectations belong to the
// tests.
package nictest
