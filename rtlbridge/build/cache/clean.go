package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// CleanOptions select the parts of the build cache to remove. Leftovers of killed builds are always
// removed; parts that a process uses never are.
type CleanOptions struct {
	CacheDir string        // default as in build.Options
	All      bool          // remove all builds that are not in use
	Older    time.Duration // also remove builds not used for at least this long; 0: do not
	DryRun   bool          // only report what would be removed
}

// Item is a part of the build cache.
type Item struct {
	Name string `json:"name"` // of its folder or file in the cache
	// scratch (an incomplete build), build, reference (a program of play --ref), old reference (of an earlier
	// version), objects (shared between builds), lock
	Kind  string `json:"kind"`
	Bytes int64  `json:"bytes"`
	Used  string `json:"used,omitempty"` // when it was last used
	Why   string `json:"why"`            // why it is removed or kept
}

// Cleaned reports which parts of the build cache were removed, and which were kept.
type Cleaned struct {
	Folder  string `json:"folder"`
	DryRun  bool   `json:"dry_run"`
	Bytes   int64  `json:"bytes"` // of the removed items
	Removed []Item `json:"removed"`
	Kept    []Item `json:"kept"`
}

const (
	kindScratch = "scratch"
	kindBuild   = "build"
	kindObjects = "objects"
	kindLock    = "lock"
	kindOld     = "old reference"
)

// oldFolder contains, relative to the cache, the programs of references that earlier versions built, each in its
// own folder.
const oldFolder = "../references"

// Reference marks the names of programs of users' references (play --ref), in the place of a build's variant.
const Reference = "reference"

var (
	entryName     = regexp.MustCompile(`^.+-[a-z]+-[0-9a-f]{20}$`)
	referenceName = regexp.MustCompile(`^.+-` + Reference + `-[0-9a-f]{20}$`)
	oldName       = regexp.MustCompile(`^[0-9a-f]{16}$`)
	lockName      = regexp.MustCompile(`^.+-[a-z]+-[0-9a-f]{20}\.lock$`)
)

// Clean removes parts of the build cache. It neither removes nor reports files that are not the cache's own.
func Clean(o CleanOptions) (*Cleaned, error) {
	cache, err := cachePath(o.CacheDir)
	if err != nil {
		return nil, err
	}
	all, err := os.ReadDir(cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a cache that does not exist is empty
		return nil, fmt.Errorf("build cache: %w", err)
	}
	c := &Cleaned{Folder: cache, DryRun: o.DryRun, Removed: []Item{}, Kept: []Item{}}
	var errs []error
	var items []Item // listed completely before any is removed
	for _, e := range all {
		if kind := kindOf(cache, e); kind != "" {
			items = append(items, Item{Name: e.Name(), Kind: kind, Bytes: bytesUnder(filepath.Join(cache, e.Name()))})
		}
	}
	for _, name := range oldReferences(cache) {
		items = append(items, Item{Name: name, Kind: kindOld, Bytes: bytesUnder(filepath.Join(cache, name))})
	}
	for _, item := range items {
		gone, err := o.clean(filepath.Join(cache, item.Name), &item)
		if err != nil {
			errs = append(errs, fmt.Errorf("build cache: %w", err))
			gone, item.Why = false, err.Error()
		}
		if gone {
			c.Removed = append(c.Removed, item)
			c.Bytes += item.Bytes
		} else {
			c.Kept = append(c.Kept, item)
		}
	}
	return c, errors.Join(errs...)
}

// oldReferences lists the programs of references of earlier versions, by their paths relative to the cache.
func oldReferences(cache string) (names []string) {
	all, _ := os.ReadDir(filepath.Join(cache, oldFolder)) // most caches have none
	for _, e := range all {
		if e.IsDir() && oldName.MatchString(e.Name()) {
			names = append(names, oldFolder+"/"+e.Name())
		}
	}
	return names
}

// kindOf returns the kind of a file of the cache, by its name and type; empty if it is not the cache's own, or
// is the lock of an existing build, which is removed with that build.
func kindOf(cache string, e os.DirEntry) string {
	name := e.Name()
	switch {
	case e.IsDir() && isScratch(name):
		return kindScratch
	case e.IsDir() && strings.HasPrefix(name, ObjectsPrefix):
		return kindObjects
	case e.IsDir() && referenceName.MatchString(name):
		return Reference
	case e.IsDir() && entryName.MatchString(name):
		return kindBuild
	case e.Type().IsRegular() && lockName.MatchString(name) &&
		!exists(filepath.Join(cache, strings.TrimSuffix(name, LockExt))):
		return kindLock
	}
	return ""
}

// bytesUnder returns the sum of the sizes of the files at a path. Files removed meanwhile count 0.
func bytesUnder(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// clean removes one part of the cache, if it is selected and not in use, and records why or why not.
func (o *CleanOptions) clean(path string, item *Item) (gone bool, err error) {
	if !o.wanted(path, item) {
		return false, nil
	}
	release, err := lockItem(path, item.Kind)
	switch {
	case errors.Is(err, ErrInUse):
		item.Why = err.Error()
		return false, nil
	case errors.Is(err, os.ErrNotExist): // removed meanwhile, or turned into an entry
		item.Why = "has changed meanwhile"
		return false, nil
	case err != nil:
		return false, err
	}
	defer release()
	if o.DryRun {
		return true, nil
	}
	return true, removeItem(path, item.Kind)
}

// wanted reports whether the options select a part of the cache for removal, provided that it is not in use.
func (o *CleanOptions) wanted(path string, item *Item) bool {
	switch item.Kind {
	case kindScratch, kindLock:
		item.Why = "left by a build that did not end"
		return true
	case kindOld:
		item.Why = "left by an earlier version"
		return true
	}
	used := lastUse(path, item.Kind)
	item.Used = used.UTC().Format(time.RFC3339)
	switch {
	case o.All:
		item.Why = "--all"
		return true
	case o.Older != 0 && time.Since(used) > o.Older:
		item.Why = "not used since " + used.Format(time.DateOnly)
		return true
	case o.Older != 0:
		item.Why = "used on " + used.Format(time.DateOnly)
	default:
		item.Why = "--older or --all removes it"
	}
	return false
}

// useFile returns the file that represents a part of the cache, see use.
func useFile(path, kind string) string {
	if kind == kindObjects {
		return filepath.Join(path, UsedFile)
	}
	return filepath.Join(path, RecordFile)
}

func lastUse(path, kind string) time.Time {
	for _, p := range []string{useFile(path, kind), path} {
		if info, err := os.Stat(p); err == nil {
			return info.ModTime()
		}
	}
	return time.Now()
}

// lockItem locks a part of the cache. The error says if a process makes or uses the part.
func lockItem(path, kind string) (release func(), err error) {
	files := []string{path}
	switch kind {
	case kindScratch, kindOld:
		return abandoned(path)
	case kindBuild, Reference:
		files = []string{path + LockExt, useFile(path, kind)}
	case kindObjects:
		files = []string{useFile(path, kind)}
	}
	var held []*os.File
	release = func() {
		for _, f := range held {
			_ = f.Close() // nothing was written, so no error can lose data
		}
	}
	for _, name := range files {
		f, err := TryLock(name)
		if errors.Is(err, os.ErrNotExist) && exists(path) {
			continue // made by an earlier version, or damaged
		}
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, f)
	}
	return release, nil
}

// removeItem removes a part of the cache that is locked.
func removeItem(path, kind string) error {
	switch kind {
	case kindScratch:
		return dropScratch(path)
	case kindBuild, Reference:
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := os.Remove(path + LockExt); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	case kindOld:
		err := os.RemoveAll(path)
		_ = os.Remove(filepath.Dir(path)) // succeeds only if the folder is empty now
		return err
	}
	return os.RemoveAll(path)
}
