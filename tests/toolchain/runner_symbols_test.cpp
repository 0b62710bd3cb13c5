#include "toolchain/runner_symbols.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>

#include "core/file.h"
#include "toolchain/image_link.h"

using namespace mcpac;
using toolchain::ElfSymbol;
using toolchain::RunnerSymbols;

namespace {

const std::vector<ElfSymbol> kSymbols{
    {"puts", 0x40001000, STT_FUNC, true},        {"stdout", 0x40002000, STT_OBJECT, true},
    {"memcpy", 0x40003000, STT_GNU_IFUNC, true}, {"errno", 0x10, STT_TLS, true},
    {"helper", 0x40004000, STT_FUNC, false},     {"main", 0x40005000, STT_FUNC, true},
    {"ours", 0x40006000, STT_FUNC, true},        {"twice", 0x40007000, STT_FUNC, true},
    {"twice", 0x40008000, STT_FUNC, true}};

RunnerSymbols runner() {
  return RunnerSymbols::of(kSymbols, [](std::string_view name) { return name != "ours"; });
}

analyzer::ObjectFile object(std::vector<analyzer::ObjectSymbol> symbols) {
  analyzer::ObjectFile file;
  file.sections = {{"", 0, 0}, {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR}};
  file.symbols = std::move(symbols);
  return file;
}

std::optional<std::string> addresses(std::vector<analyzer::ObjectSymbol> symbols) {
  std::vector<analyzer::ObjectFile> files;
  files.push_back(object(std::move(symbols)));
  return toolchain::addresses_for(files, runner());
}

}  // namespace

TEST_SUITE("execute/runner symbols") {
  TEST_CASE("a name is found where it is one thing at one address, and a library's") {
    const auto symbols = runner();
    CHECK(symbols.find("puts") == 0x40001000);
    CHECK(symbols.find("stdout") == 0x40002000);
    for (const char* name :
         {"memcpy", "errno", "helper", "main", "ours", "twice", "", "put", "puts2"})
      CHECK_MESSAGE(!symbols.find(name).has_value(), name);
    const auto again = RunnerSymbols::from_bytes(symbols.to_bytes());
    REQUIRE(again.has_value());
    CHECK(again->find("stdout") == 0x40002000);
  }

  TEST_CASE("a list that is cut off is an error, or finds less, and never reads beyond its end") {
    const std::string whole = runner().to_bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto cut = RunnerSymbols::from_bytes(whole.substr(0, size));
      if (cut) CHECK_FALSE(cut->find("stdout").has_value());
    }
  }

  TEST_CASE("the object with addresses is one that object readers take") {
    const std::string bytes = toolchain::object_of_addresses({{"puts", 1}, {"stdout", 2}});
    const auto read = analyzer::read_object(elf::reader_of(bytes), "addresses");
    REQUIRE(read.has_value());
    std::vector<std::string_view> names;
    for (const auto& symbol : read->symbols) {
      if (!symbol.name.empty()) names.push_back(symbol.name);
    }
    CHECK(names == std::vector<std::string_view>{"puts", "stdout"});
  }

  TEST_CASE(
      "a program that needs what the runner does not have, or threads of its own, is no image") {
    CHECK(addresses({{"puts", 0, STB_GLOBAL, 0}}).has_value());
    CHECK(addresses({{"nowhere", 0, STB_WEAK, 0}}).has_value());
    CHECK(addresses({{"_GLOBAL_OFFSET_TABLE_", 0, STB_GLOBAL, 0}}).has_value());
    CHECK_FALSE(addresses({{"nowhere", 0, STB_GLOBAL, 0}}).has_value());
    CHECK_FALSE(addresses({{"memcpy", 0, STB_GLOBAL, 0}}).has_value());
    CHECK_FALSE(addresses({{"mine", STT_TLS, STB_GLOBAL, 1}}).has_value());
    CHECK_FALSE(addresses({{"hidden", STT_TLS, STB_LOCAL, 1}}).has_value());
  }

  TEST_CASE("what the program defines itself is its own, what both may define is the runner's") {
    const auto has = [](const std::optional<std::string>& bytes, std::string_view name) {
      return bytes && bytes->find(std::string(1, '\0') + std::string(name)) != std::string::npos;
    };
    CHECK(has(addresses({{"puts", STT_FUNC, STB_WEAK, 1}}), "puts"));
    CHECK_FALSE(has(addresses({{"puts", STT_FUNC, STB_GLOBAL, 1}}), "puts"));
    CHECK_FALSE(has(addresses({{"puts", STT_FUNC, STB_LOCAL, 1}}), "puts"));
  }

  TEST_CASE("functions that are chosen at the start get a source that takes their addresses") {
    const std::string text = toolchain::source_of_chosen(kSymbols);
    CHECK(text.contains(".quad memcpy"));
    CHECK_FALSE(text.contains("puts"));
  }

  TEST_CASE("the symbols of a program are read from its bytes, and a cut program is an error") {
    const std::string self = read_file("/proc/self/exe", std::size_t{1} << 30U).value();
    const auto symbols = toolchain::symbols_of_program(self, "self");
    REQUIRE(symbols.has_value());
    bool found = false;
    for (const auto& symbol : *symbols) found = found || symbol.name == "main";
    CHECK(found);
    CHECK_FALSE(toolchain::symbols_of_program(self.substr(0, 100), "self").has_value());
    CHECK_FALSE(toolchain::symbols_of_program(self.substr(0, self.size() / 2), "self").has_value());
    CHECK_FALSE(toolchain::symbols_of_program("#!/bin/sh\n", "self").has_value());
  }
}
