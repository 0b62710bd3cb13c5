// What people write as limits of a run.
#include "cli/run_options.h"

#include <doctest/doctest.h>

#include "cli/grant_options.h"

using namespace mcpac;
using cli::RunOptions;
using cli::to_limits;

namespace {

RunOptions options() {
  RunOptions made;
  made.lowest_tier = std::make_shared<std::string>("A");
  return made;
}

// The limit that the text means; 0 where it is refused, as a wrong command line.
std::uint64_t output_of(const std::string& text) {
  auto given = options();
  given.output_limit = text;
  const auto limits = to_limits(given);
  if (!limits) CHECK(limits.error().id == ErrorId::kUsage);
  return limits ? limits->output : 0;
}

std::int64_t milliseconds_of(const std::string& text) {
  auto given = options();
  given.timeout = text;
  const auto limits = to_limits(given);
  if (!limits) CHECK(limits.error().id == ErrorId::kUsage);
  return limits ? limits->wall.count() : 0;
}

}  // namespace

TEST_SUITE("cli/run_options") {
  TEST_CASE("a size is bytes, or has the units of rules or of memory") {
    CHECK(output_of("4096") == 4096);
    CHECK(output_of("4096B") == 4096);
    CHECK(output_of("2KB") == 2'000);
    CHECK(output_of("512MB") == 512'000'000);
    CHECK(output_of("64KiB") == 64U << 10U);
    CHECK(output_of("512MiB") == 512U << 20U);
    CHECK(output_of("512M") == 512U << 20U);
    CHECK(output_of("1G") == 1U << 30U);
    for (const char* wrong : {"", "0", "K", "KiB", "1 KB", "1kB", "-1", "1.5M", "5MM", "5BiB", "iB",
                              "9999999999999999999", "2000GiB", "1TB", "1MBiB"}) {
      CAPTURE(wrong);
      CHECK(output_of(wrong) == 0);
    }
  }

  TEST_CASE("a mode of --files that is none is answered with the one that was meant") {
    cli::GrantOptions given;
    const auto fix_of = [&](const char* files) {
      given.files = {files};
      const auto layer = cli::to_layer(given);
      if (layer) return std::string();
      CHECK(layer.error().id == ErrorId::kFilesRefused);
      return layer.error().fix;
    };
    CHECK(fix_of("data:r") == "--files ./data:ro");
    CHECK(fix_of("./data:READ") == "--files ./data:ro");
    CHECK(fix_of("/data:rwx") == "--files /data:rw");
    CHECK(fix_of("~/data:read-write") == "--files '~/data:rw'");
    for (const char* right : {"./data", "./data:rw", "./odd:w:ro", "./a:b", "data"}) {
      CAPTURE(right);
      CHECK(fix_of(right).empty());
    }
  }

  TEST_CASE("too little memory to start any program is a wrong command line, and says the least") {
    auto given = options();
    for (const char* little : {"4", "4096", "1MiB", "33554431"}) {
      given.memory = little;
      const auto limits = to_limits(given);
      REQUIRE_FALSE(limits.has_value());
      CHECK(limits.error().id == ErrorId::kUsage);
      CHECK(limits.error().fix == "at least 32MiB");
    }
    given.memory = "32MiB";
    CHECK(to_limits(given).value().memory == 32U << 20U);
  }

  TEST_CASE("a time is seconds, or says its unit") {
    CHECK(milliseconds_of("300") == 300'000);
    CHECK(milliseconds_of("0.5") == 500);
    CHECK(milliseconds_of("5s") == 5'000);
    CHECK(milliseconds_of("2m") == 120'000);
    CHECK(milliseconds_of("1.5h") == 5'400'000);
    CHECK(milliseconds_of("24h") == 86'400'000);
    for (const char* wrong : {"", "0", "-1", "s", "5 s", "25h", "nan", "inf", "5d", "5ss", "1e9"}) {
      CAPTURE(wrong);
      CHECK(milliseconds_of(wrong) == 0);
    }
  }
}
