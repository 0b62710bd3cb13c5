#include "core/shell_quote.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <random>

using mcpac::shell_quoted;

namespace {

// What a real shell makes of the word.
std::string through_shell(const std::string& word) {
  FILE* pipe = ::popen(("printf %s " + shell_quoted(word)).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 4096> bytes{};
  while (const auto size = std::fread(bytes.data(), 1, bytes.size(), pipe))
    out.append(bytes.data(), size);
  CHECK(::pclose(pipe) == 0);
  return out;
}

}  // namespace

TEST_SUITE("core/shell quote") {
  TEST_CASE("plain words stay as they are, and others are quoted") {
    CHECK(shell_quoted("fs.read,fs.write") == "fs.read,fs.write");
    CHECK(shell_quoted(R"(gh."a.b")") == R"('gh."a.b"')");
    CHECK(shell_quoted("it's") == R"('it'\''s')");
    CHECK(shell_quoted("") == "''");
    CHECK(shell_quoted("~") == "'~'");
    CHECK(shell_quoted("A=1") == "'A=1'");
  }

  TEST_CASE("a shell reads every word back as it was, and runs nothing of it") {
    std::mt19937 random(7);  // NOLINT: the same words in every run
    const std::string letters = "'\"\\$`!#;&|()<>*?[]{}~ \t\nax=é";
    for (int i = 0; i < 60; ++i) {
      std::string word;
      for (int length = static_cast<int>(random() % 12) + 1; length > 0; --length)
        word += letters[random() % letters.size()];
      CHECK(through_shell(word) == word);
    }
    CHECK(through_shell("x'; echo PWN #") == "x'; echo PWN #");
  }
}
