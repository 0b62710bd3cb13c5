#include "core/text_finder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace mcpac;

namespace {

using Places = std::vector<TextFinder::Place>;

// What every hit of every needle covers, byte by byte.
Places naive(const std::vector<std::string>& needles, const std::string& text) {
  Places hits;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (std::size_t i = 0; i < needles.size(); ++i) {
      if (!needles[i].empty() && text.compare(at, needles[i].size(), needles[i]) == 0)
        hits.push_back({at, at + needles[i].size(), i});
    }
  }
  // Where several begin the longest is told, and of equal ones the first.
  std::ranges::sort(hits, [](const auto& a, const auto& b) {
    return std::tie(a.begin, b.end, a.needle) < std::tie(b.begin, a.end, b.needle);
  });
  Places merged;
  for (const auto& hit : hits) {
    if (merged.empty() || merged.back().end <= hit.begin)
      merged.push_back(hit);
    else
      merged.back().end = std::max(merged.back().end, hit.end);
  }
  return merged;
}

}  // namespace

TEST_SUITE("core/text_finder") {
  TEST_CASE("the longest of those that begin alike is told, and what overlaps is one place") {
    const TextFinder finder({"token", "token-and-more", "more", "edge", ""});
    CHECK(finder.find("a token-and-moredge, token") == Places{{2, 19, 1}, {21, 26, 0}});
    CHECK(finder.find("tokentoken") == Places{{0, 5, 0}, {5, 10, 0}});
    CHECK(finder.find("toke nope").empty());
    CHECK(finder.occurs_in("xxmorexx"));
    CHECK_FALSE(finder.occurs_in(""));
  }

  TEST_CASE("without needles nothing is found") {
    CHECK(TextFinder({}).find("text").empty());
    CHECK(TextFinder({""}).find("text").empty());
    CHECK_FALSE(TextFinder({""}).occurs_in("text"));
  }

  TEST_CASE("random texts are searched as by hand") {
    std::mt19937 random(7);
    const auto text_of = [&](std::size_t most, unsigned letters) {
      std::string text(random() % (most + 1), ' ');
      for (char& c : text) c = static_cast<char>(0xfe + random() % letters);
      return text;
    };
    for (int round = 0; round < 2'000; ++round) {
      const unsigned letters = 1 + static_cast<unsigned>(random() % 3);
      std::vector<std::string> needles(random() % 8);
      for (auto& needle : needles) needle = text_of(5, letters);
      const std::string text = text_of(60, letters);
      const TextFinder finder(needles);
      const Places expected = naive(needles, text);
      REQUIRE(finder.find(text) == expected);
      REQUIRE(finder.occurs_in(text) == !expected.empty());
    }
  }

  TEST_CASE("of a long one its beginning counts, and as much of it as follows") {
    std::mt19937 random(11);
    std::string secret(20'000, ' ');
    for (char& c : secret) c = static_cast<char>('a' + random() % 26);
    const std::string other = secret.substr(0, 10'000) + "and then another end";
    const TextFinder finder({"short", secret, other});
    const auto one = [&](const std::string& text) {
      const auto found = finder.find("<" + text + ">");
      REQUIRE(found.size() == 1);
      return found[0];
    };
    CHECK(one(secret) == TextFinder::Place{1, 1 + secret.size(), 1});
    CHECK(one(other) == TextFinder::Place{1, 1 + other.size(), 2});
    CHECK(one(secret.substr(0, 15'000)) == TextFinder::Place{1, 15'001, 1});
    CHECK(finder.occurs_in(secret));
    CHECK(finder.find(secret.substr(0, TextFinder::kBeginning - 1)).empty());
    CHECK(finder.find(secret + "-" + secret).size() == 2);
    CHECK(finder.find(secret + secret.substr(0, 12'000) + "short") ==
          Places{{0, 20'000, 1}, {20'000, 32'000, 1}, {32'000, 32'005, 0}});
  }

  TEST_CASE("hits at every byte leave one place") {
    const std::string text(100'000, 'a');
    const TextFinder finder({"aa", std::string(50'000, 'a'), "aab"});
    CHECK(finder.find(text) == Places{{0, text.size(), 1}});
  }
}
