// Tests the size of grants: small until the board has shown that it is quick, and small again when it gets slow.

#include "grant.hpp"

#include <cstdio>
#include <cstdlib>

using namespace nictwin;

namespace {

void check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "grant_test: %s\n", what);
  std::exit(1);
}

// Runs grants on a board that takes a time for each slot, until their size stays; returns it.
uint32_t settled(GrantSize& size, bool masked, uint64_t slot_ns) {
  for (uint32_t before = 0, i = 0; i < 20; i++) {
    before = size.most(masked);
    size.took(before, masked, before * slot_ns);
  }
  return size.most(masked);
}

}  // namespace

int main() {
  GrantSize size;
  check(size.most(false) == 16, "the first grant is small");
  for (int i = 0; i < 100; i++) size.took(1, false, 1000);
  check(size.most(false) == 16, "short grants say nothing about long ones");
  check(settled(size, false, 1000) == kMaxSlots, "a quick board gets the largest grants");
  const uint32_t slow = settled(size, false, 1'000'000);
  check(slow > 16 && slow * 1'000'000ull <= 500'000'000, "a slow board gets grants of half a second at most");
  check(settled(size, false, 1'000'000'000) == 16, "a very slow board gets the smallest grants");
  check(settled(size, true, 1000) == kMaskSlots, "stall bits are for 64 slots");
}
