#include "core/backoff.h"

#include <doctest/doctest.h>

using namespace mcpac;
using namespace std::chrono_literals;

TEST_SUITE("core/backoff") {
  TEST_CASE("a pause is twice the one before, up to the longest, and the first after a reset") {
    ExponentialBackoff backoff(100ms, 350ms);
    CHECK(backoff.last() == 0ms);
    CHECK(backoff.next() == 100ms);
    CHECK(backoff.next() == 200ms);
    CHECK(backoff.next() == 350ms);
    CHECK(backoff.next() == 350ms);
    CHECK(backoff.last() == 350ms);
    backoff.reset();
    CHECK(backoff.next() == 100ms);
  }
}
