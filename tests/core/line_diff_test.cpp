#include "core/line_diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using mcpac::diff_lines;
using mcpac::DiffLine;
using mcpac::shown_diff;
using Kind = DiffLine::Kind;

namespace {

std::string text_of(const std::vector<DiffLine>& lines) {
  std::string text;
  for (const DiffLine& line : lines) {
    text += static_cast<char>(line.kind);
    text += std::string(line.text) + "\n";
  }
  return text;
}

// What one of the two texts was, from the differences.
std::string side(const std::vector<DiffLine>& lines, Kind leave_out) {
  std::string text;
  for (const DiffLine& line : lines) {
    if (line.kind != leave_out) text += std::string(line.text) + "\n";
  }
  return text;
}

std::string random_lines(std::mt19937& random) {
  std::string text;
  for (auto n = random() % 30; n > 0; --n) text += std::string(1, "abcd"[random() % 4]) + "\n";
  return text;
}

}  // namespace

TEST_SUITE("core/line diff") {
  TEST_CASE("a changed line is one removed and one added, with its neighbours kept") {
    CHECK(text_of(diff_lines("a\nb\nc\n", "a\nx\nc\n")) == " a\n-b\n+x\n c\n");
    CHECK(text_of(diff_lines("", "a\n")) == "+a\n");
    CHECK(text_of(diff_lines("a\n", "")) == "-a\n");
    CHECK(text_of(diff_lines("a\nb\n", "a\nb\n")) == " a\n b\n");
    CHECK(diff_lines("", "").empty());
  }

  TEST_CASE("lines know their numbers in both texts") {
    const auto lines = diff_lines("a\nb\n", "b\nc\n");
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == DiffLine{Kind::kRemoved, "a", 1, 0});
    CHECK(lines[1] == DiffLine{Kind::kSame, "b", 2, 1});
    CHECK(lines[2] == DiffLine{Kind::kAdded, "c", 0, 2});
  }

  TEST_CASE("the differences hold both texts whole, and are the fewest where that is known") {
    std::mt19937 random(20261122);
    for (int round = 0; round < 2'000; ++round) {
      const std::string a = random_lines(random);
      const std::string b = random_lines(random);
      const auto lines = diff_lines(a, b);
      CHECK(side(lines, Kind::kAdded) == a);
      CHECK(side(lines, Kind::kRemoved) == b);
    }
    // "abcabba" to "cbabac" takes five edits (Myers' own example).
    const auto lines = diff_lines("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n");
    CHECK(std::ranges::count_if(
              lines, [](const DiffLine& line) { return line.kind != Kind::kSame; }) == 5);
  }

  TEST_CASE("beyond the limits everything counts as replaced, and nothing is lost") {
    std::string a, b;
    for (int i = 0; i < 50; ++i) {
      a += std::to_string(i) + "\n";
      b += std::to_string(i + 1'000) + "\n";
    }
    const auto by_edits = diff_lines(a, b, {.most_edits = 10, .most_lines = 1'000});
    CHECK(by_edits.size() == 100);
    CHECK(side(by_edits, Kind::kAdded) == a);
    const auto by_lines = diff_lines(a, a, {.most_edits = 1'000, .most_lines = 10});
    CHECK(by_lines.size() == 100);
  }

  TEST_CASE("hunks have their context and join where they meet") {
    std::string a, b;
    for (int i = 0; i < 40; ++i) {
      a += std::to_string(i) + "\n";
      b += (i == 5 || i == 9 || i == 30 ? "x" : std::to_string(i)) + std::string("\n");
    }
    const auto lines = diff_lines(a, b);
    const auto hunks = mcpac::hunks_of(lines, 3);
    REQUIRE(hunks.size() == 2);
    CHECK(lines[hunks[0].begin].text == "2");
    CHECK(lines[hunks[0].end - 1].text == "12");
    CHECK(lines[hunks[1].begin].text == "27");
  }

  TEST_CASE("what is shown has the changed lines, and dots where others are left out") {
    std::string before;
    for (int i = 1; i <= 30; ++i) before += std::to_string(i) + "\n";
    std::string after = before;
    after.replace(after.find("2\n"), 2, "two\x1b\n");
    after += "31\n";
    const auto shown = shown_diff(before, after);
    CHECK(std::ranges::count(shown, "…") == 1);
    CHECK(std::ranges::count(shown, "-2") == 1);
    CHECK(std::ranges::count(shown, "+31") == 1);
    for (const std::string& line : shown) CHECK(line.find('\x1b') == std::string::npos);
    CHECK(shown_diff(before, before).empty());
  }
}
