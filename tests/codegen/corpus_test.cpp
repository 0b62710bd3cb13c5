// Every recorded listing of a real server must become headers that every compiler takes.
//
// tests/codegen/data is a copied subset and always there; the whole corpus is used where it lies
// beside the source tree (or where MCPAC_CORPUS says).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

#include "codegen/describe.h"
#include "codegen/shape_builder.h"
#include "core/hash.h"
#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

Output generated(const std::vector<ServerListing>& listings) {
  auto output = generate(listings);
  REQUIRE(output);
  return std::move(*output);
}

std::size_t tools_in(const std::vector<ServerListing>& listings) {
  std::size_t tools = 0;
  for (const auto& listing : listings) tools += listing.tools.size();
  return tools;
}

void check_complete(const std::vector<ServerListing>& listings) {
  const Output output = generated(listings);
  for (const auto& listing : listings) {
    for (const auto& tool : listing.tools) {
      CHECK_MESSAGE(output.lock.find_tool(listing.server, tool.name) != nullptr, listing.server,
                    ".", tool.name);
    }
  }
  const std::string text = to_text(output.lock);
  const auto lock = parse_lock(text, "mcpac.lock");
  REQUIRE(lock);
  CHECK(to_text(*lock) == text);
}

void check_order_does_not_matter(std::vector<ServerListing> listings) {
  const Output first = generated(listings);
  std::ranges::reverse(listings);
  for (auto& listing : listings) std::ranges::reverse(listing.tools);
  const Output second = generated(listings);
  CHECK(first.files == second.files);
  CHECK(to_text(first.lock) == to_text(second.lock));
}

struct Share {
  std::size_t properties = 0;
  std::size_t became_json = 0;
  std::map<std::string, std::size_t> reasons{};  // as generate prints them, without the places
};

// "becomes Json: the reference "x" points nowhere" without what stands in quotes: one reason a row.
std::string reason_of(const Note& note) {
  std::string reason = note.message.substr(note.message.find(": ") + 2);
  const auto begin = reason.find('"');
  const auto end = reason.rfind('"');
  if (begin != end) reason.replace(begin, end - begin + 1, "…");
  return reason;
}

std::string table_of(const Share& share) {
  std::string table = fmt::format(
      "{} properties, {} of them Json for want of a type ({:.2f} %)", share.properties,
      share.became_json,
      100.0 * static_cast<double>(share.became_json) / static_cast<double>(share.properties));
  for (const auto& [reason, count] : share.reasons)
    table += fmt::format("\n  {:4}  {}", count, reason);
  return table;
}

Share count_json(const std::vector<ServerListing>& listings) {
  Share share;
  for (const auto& listing : listings) {
    for (const auto& tool : listing.tools) {
      std::vector<Note> notes;
      for (const auto& [name, kind] : {std::pair{"inputSchema", ShapeKind::kArgs},
                                       std::pair{"outputSchema", ShapeKind::kResult}}) {
        if (!tool.definition.contains(name)) continue;
        const Shape shape = ShapeBuilder(tool.definition.at(name), kind, "", "", notes).build();
        share.properties += shape.properties;
        share.became_json += shape.became_json;
      }
      for (const Note& note : notes) {
        if (note.message.starts_with("becomes Json: ")) ++share.reasons[reason_of(note)];
      }
    }
  }
  return share;
}

void check_compiles(const Output& output, const std::vector<Compiler>& with) {
  const TemporaryFolder folder = temporary_folder();
  write_headers(output, folder.path());
  const auto source = folder.path() / "all.cpp";
  REQUIRE(write_file_atomic(source, "#include \"mcpac.hpp\"\nint main() { return 0; }\n"));
  for (const Compiler& compiler : with) {
    const std::string words = check_syntax(compiler, source, folder.path());
    CHECK_MESSAGE(words.empty(), compiler.name, ":\n", words);
  }
}

// Every server's header as the only one of a program; two at a time. Each says itself that it needs
// the runtime, which is then compiled once, but for the first of them.
void check_each_alone(const Output& output, const Compiler& compiler) {
  const TemporaryFolder folder = temporary_folder();
  write_headers(output, folder.path());
  const Compiler with_it = with_runtime(compiler, folder.path());
  struct Job {
    const Compiler* compiler;
    std::filesystem::path source;
    std::string words{};
  };
  std::vector<Job> jobs;
  for (const auto& [path, text] : output.files) {
    if (path.find('/') != std::string::npos || !path.ends_with(".hpp") || path == "mcpac.hpp")
      continue;
    const auto source = folder.path() / (path + ".cpp");
    REQUIRE(write_file_atomic(source, "#include \"" + path + "\"\nint main() { return 0; }\n"));
    CHECK(text.find("\n#include \"mcpac/runtime.hpp\"\n") != std::string::npos);
    jobs.push_back({jobs.empty() ? &compiler : &with_it, source});
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++)
      jobs[i].words = check_syntax(*jobs[i].compiler, jobs[i].source, folder.path());
  };
  std::thread other(work);
  work();
  other.join();
  for (const Job& job : jobs)
    CHECK_MESSAGE(job.words.empty(), job.source.string(), ", ", job.compiler->name, ":\n",
                  job.words);
}

// Comments that Doxygen would misread are warnings of clang.
Compiler documentation() {
  return {"clang 19 -Wdocumentation",
          clang19().command + " -Wdocumentation -Wdocumentation-pedantic"};
}

void check_examples(const Output& output) {
  std::string source = "#include \"mcpac.hpp\"\nusing namespace mcp;\n";
  int number = 0;
  for (const auto& server : output.lock.servers) {
    for (const auto& tool : server.tools) {
      // After `using namespace mcp` too, as programs write it.
      source += fmt::format("auto call_{}(mcpac::Requires<{}> rt) {{ return {}; }}\n", number++,
                            tool.cpp_name.substr(5), example_call(server, tool));
      CHECK(describe_tool(server, tool).find(example_call(server, tool)) != std::string::npos);
    }
  }
  const TemporaryFolder folder = temporary_folder();
  write_headers(output, folder.path());
  REQUIRE(write_file_atomic(folder.path() / "examples.cpp", source));
  const Compiler compiler{"clang 19",
                          "clang++-19 -std=c++23 -stdlib=libc++ -Wall -Wextra "
                          "-Wno-missing-field-initializers -Werror"};
  const std::string words = check_syntax(compiler, folder.path() / "examples.cpp", folder.path());
  CHECK_MESSAGE(words.empty(), words);
}

}  // namespace

TEST_SUITE("codegen/corpus") {
  TEST_CASE("no tool of the recorded servers is dropped, and the lock reads back") {
    check_complete(listings_in(data_folder()));
  }

  TEST_CASE("the order in which servers and tools are listed changes no byte") {
    check_order_does_not_matter(listings_in(data_folder()));
  }

  TEST_CASE("the headers of the recorded servers compile with every compiler, warnings as errors") {
    check_compiles(generated(listings_in(data_folder())), compilers());
  }

  // Alone it matters what a header includes, and what agents compile with; all together they have
  // just been compiled with the others.
  TEST_CASE("each of these headers compiles alone") {
    check_each_alone(generated(listings_in(data_folder())), clang19());
  }

  TEST_CASE("the digests in the lock are those of the files") {
    const Output output = generated({listing_of(data_folder() / "memory.json")});
    CHECK(output.lock.headers.size() == output.files.size());
    for (const auto& [path, text] : output.files)
      CHECK(output.lock.headers.at(path) == sha256_hex(text));
    CHECK(output.files.contains("mcpac/runtime.hpp"));
    CHECK(output.files.contains("memory.hpp"));
  }

  TEST_CASE("the example of every described tool compiles") {
    check_examples(generated(listings_in(data_folder())));
  }

  TEST_CASE("no word of a server is a Doxygen command or tag") {
    check_compiles(generated(listings_in(data_folder())), {documentation()});
  }

  TEST_CASE("at most one property in twenty becomes Json though its schema says more") {
    const Share share = count_json(listings_in(data_folder()));
    REQUIRE(share.properties > 1000);
    MESSAGE(table_of(share));
    CHECK(share.became_json * 20 <= share.properties);
  }

  TEST_CASE("the whole corpus generates and compiles, where it is at hand") {
    if (!std::filesystem::is_directory(corpus_folder())) {
      MESSAGE("skipped: no corpus at ", corpus_folder().string());
      return;
    }
    const auto listings = listings_in(corpus_folder());
    check_complete(listings);
    check_order_does_not_matter(listings);
    const Share share = count_json(listings);
    MESSAGE(listings.size(), " servers, ", tools_in(listings), " tools, ", table_of(share));
    CHECK(share.became_json * 20 <= share.properties);
    // All three compilers take minutes over all hundred headers; one is what every run can pay.
    const bool thorough = std::getenv("MCPAC_CORPUS_THOROUGH") != nullptr;
    const Output output = generated(listings);
    check_compiles(output, {documentation()});
    if (thorough) {
      check_compiles(output, compilers());
      for (const Compiler& compiler : compilers()) check_each_alone(output, compiler);
    }
    check_examples(output);
  }
}
