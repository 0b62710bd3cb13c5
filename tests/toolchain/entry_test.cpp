#include "toolchain/entry.h"

#include <doctest/doctest.h>

using namespace mcpac;
using analyzer::Entry;
using toolchain::EntryPlace;
using toolchain::likely_entry;

namespace {

std::optional<EntryPlace> entry_of(const std::string& first, const std::string& second = "") {
  auto source = toolchain::source_from_text(first, "a.cpp").value();
  source.name = "a.cpp";
  if (!second.empty()) source.further.push_back({"b.cpp", "b.cpp", second});
  return likely_entry(toolchain::Snapshot::take(source).value());
}

}  // namespace

TEST_SUITE("execute/entry") {
  TEST_CASE("the entry that a text seems to have is the one whose word stands in it") {
    CHECK(entry_of("int agent_main(X rt) {}") == EntryPlace{0, Entry::kAgentMain});
    CHECK(entry_of("X runtime; int main() {}") == EntryPlace{0, Entry::kRuntimeObject});
    CHECK(entry_of("int helper();", "int agent_main(X rt) {}") == EntryPlace{1, Entry::kAgentMain});
  }

  TEST_CASE("nothing is guessed where no text has a word of an entry, or several have") {
    CHECK_FALSE(entry_of("int main() {}").has_value());
    CHECK_FALSE(entry_of("int my_agent_main_2(); X runtimes;").has_value());
    CHECK_FALSE(entry_of("int agent_main(X rt);", "int agent_main(X rt) {}").has_value());
  }
}
