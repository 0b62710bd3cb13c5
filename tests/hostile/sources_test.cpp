// Sources that reach for files, through the real mcpac: analysis, compiler and linker as they are
// for everybody.
#include <doctest/doctest.h>

#include <fstream>

#include "core/file.h"
#include "e2e/workspace.h"
#include "hostile/support_sources.h"

namespace mcpac::hostile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCanary = "canary-8731";

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

// A project without servers, and files that no program of it may see.
class HostileProject {
 public:
  HostileProject()
      : workspace_("{\"mcpServers\": {}}"),
        other_(TemporaryFolder::create("/tmp", "mcpac-hostile-other")) {
    REQUIRE(other_);
    std::ofstream(other_->path() / "secret.txt") << kCanary << "\n";
    REQUIRE(workspace_.mcpac({"generate"}).exit_code == 0);
  }
  e2e::Outcome ask(const std::vector<std::string>& command, const Source& source,
                   const std::string& name) const {
    const auto path = (other_->path() / name).native();
    const auto file = workspace_.write(
        "agent.cpp", "#include <mcpac.hpp>\n" + replaced(source.text, "{file}", path) +
                         "int agent_main(mcpac::Requires<>) { return 0; }\n");
    auto words = command;
    words.push_back(file.native());
    auto outcome = workspace_.mcpac(words);
    outcome.out = replaced(outcome.out, name, "FILE");
    outcome.err = replaced(outcome.err, name, "FILE");
    return outcome;
  }
  [[nodiscard]] bool left() const { return !fs::is_empty(workspace_.folder() / "tmp"); }

 private:
  e2e::Workspace workspace_;
  Result<TemporaryFolder> other_;
};

}  // namespace

TEST_SUITE("hostile/sources") {
  TEST_CASE("mcpac says nothing of a file outside, not even that it is there") {
    const HostileProject project;
    const std::vector<std::string> validate{"permissions", "validate"};
    // The first use on a machine is told of, whatever it reads.
    project.ask(validate, reaching_sources().front(), "absent.txt");
    for (const std::vector<std::string>& command :
         {validate, std::vector<std::string>{"execute", "-f"}}) {
      for (const Source& source : reaching_sources()) {
        CAPTURE(source.name);
        CAPTURE(command.front());
        const auto there = project.ask(command, source, "secret.txt");
        const auto absent = project.ask(command, source, "absent.txt");
        CHECK_FALSE(e2e::has(there.out + there.err, kCanary));
        CHECK(there.exit_code == absent.exit_code);
        CHECK(there.out == absent.out);
        CHECK(there.err == absent.err);
        CHECK(there.exit_code < 128);
        CHECK_FALSE(project.left());
      }
    }
  }
}

}  // namespace mcpac::hostile
