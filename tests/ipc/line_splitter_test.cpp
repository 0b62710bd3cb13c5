#include "ipc/line_splitter.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using mcpac::ipc::LineSplitter;

namespace {

std::vector<std::string> lines(const std::vector<std::string>& pieces, std::size_t limit = 100) {
  LineSplitter splitter(limit);
  std::vector<std::string> out;
  for (const auto& piece : pieces) {
    splitter.push(piece);
    while (const auto line = splitter.next()) out.emplace_back(*line);
  }
  return out;
}

}  // namespace

TEST_SUITE("ipc/line_splitter") {
  TEST_CASE("every split of the input gives the same lines") {
    const std::string text = "first\n\nthird is longer\r\nx\n";
    const std::vector<std::string> expected = {"first", "", "third is longer\r", "x"};
    for (std::size_t i = 0; i <= text.size(); ++i) {
      for (std::size_t j = i; j <= text.size(); ++j) {
        CAPTURE(i);
        CAPTURE(j);
        CHECK(lines({text.substr(0, i), text.substr(i, j - i), text.substr(j)}) == expected);
      }
    }
  }

  TEST_CASE("one frame in forty reads, two frames in one") {
    std::vector<std::string> forty;
    for (int i = 0; i < 39; ++i) forty.emplace_back(1, static_cast<char>('a' + i % 26));
    forty.emplace_back("\n");
    CHECK(lines(forty).size() == 1);
    CHECK(lines(forty)[0].size() == 39);
    CHECK(lines({"one\ntwo\n"}) == std::vector<std::string>{"one", "two"});
  }

  TEST_CASE("the end in the middle of a line leaves the rest") {
    LineSplitter splitter;
    splitter.push("whole\nhalf");
    CHECK(splitter.next() == "whole");
    CHECK_FALSE(splitter.next().has_value());
    CHECK(splitter.buffered() == 4);
    CHECK(splitter.take_rest() == "half");
    CHECK(splitter.buffered() == 0);
  }

  TEST_CASE("a line of the limit passes, one byte more is an error that stays") {
    CHECK(lines({std::string(100, 'x') + "\n"}).size() == 1);
    for (const auto& pieces :
         {std::vector<std::string>{std::string(101, 'x') + "\nnext\n"},
          std::vector<std::string>{std::string(60, 'x'), std::string(60, 'x')}}) {
      LineSplitter splitter(100);
      for (const auto& piece : pieces) {
        splitter.push(piece);
        while (splitter.next()) FAIL("no line may come out");
      }
      CHECK(splitter.over_long());
      splitter.push("\nnext\n");
      CHECK_FALSE(splitter.next().has_value());
    }
  }

  TEST_CASE("lines before an over-long one still come out") {
    LineSplitter splitter(10);
    splitter.push("short\n" + std::string(50, 'x'));
    CHECK(splitter.next() == "short");
    CHECK_FALSE(splitter.next().has_value());
    CHECK(splitter.over_long());
  }

  TEST_CASE("memory is given back after a huge line, and nothing is lost") {
    LineSplitter splitter;
    const std::string huge(8U << 20U, 'h');
    splitter.push(huge);
    splitter.push("\nafter");
    CHECK(splitter.next() == huge);
    splitter.push("wards\n");
    CHECK(splitter.next() == "afterwards");
    for (int i = 0; i < 1000; ++i) {
      splitter.push("line " + std::to_string(i) + "\n");
      CHECK(splitter.next() == "line " + std::to_string(i));
    }
  }

  TEST_CASE("reading straight into the buffer is the same as pushing") {
    LineSplitter splitter;
    std::vector<std::string> out;
    std::string text;
    for (int i = 0; i < 300; ++i) text += std::string(static_cast<std::size_t>(i), 'a') + "\n";
    for (std::size_t at = 0; at < text.size();) {
      const auto room = splitter.prepare(777);
      const auto size = std::min(room.size(), text.size() - at);
      std::copy_n(text.data() + at, size, room.data());
      splitter.commit(size);
      at += size;
      while (const auto line = splitter.next()) out.emplace_back(*line);
    }
    REQUIRE(out.size() == 300);
    CHECK(out[299].size() == 299);
  }
}
