// What code mode makes before the first program comes.
#include "gateway/code_mode/preparation.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/file.h"
#include "places.h"
#include "toolchain/prepare_runtime.h"

using namespace mcpac;
using namespace mcpac::gateway;

namespace {

namespace fs = std::filesystem;

// A machine on which no program was compiled yet.
struct Machine {
  Machine()
      : home(TemporaryFolder::create(fs::temp_directory_path(), "mcpac-preparation-").value()) {
    fs::create_directories(home.path() / "temporary");
  }
  [[nodiscard]] project::Folders folders() const {
    return {.state = home.path() / "state",
            .cache = home.path() / "cache",
            .temporary = home.path() / "temporary",
            .libexec = mcpac::testing::in_build("libexec/mcpac")};
  }
  [[nodiscard]] std::unique_ptr<code_mode::Preparation> prepare(
      code_mode::Preparation::Say say) const {
    return code_mode::Preparation::start(folders(), {}, std::move(say)).value();
  }
  // What a program that names no server would find.
  [[nodiscard]] bool is_prepared() const { return toolchain::is_runtime_prepared(folders()); }

  TemporaryFolder home;
};

}  // namespace

TEST_SUITE("gateway/preparation") {
  TEST_CASE("the runtime is made without a program, and a program finds it") {
    const Machine machine;
    std::promise<std::string> said;
    auto preparation = machine.prepare([&, once = false](const std::string& text) mutable {
      if (!std::exchange(once, true)) said.set_value(text);
    });
    // What takes seconds is said before.
    CHECK(said.get_future().get().find("precompiling") != std::string::npos);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (!machine.is_prepared() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(machine.is_prepared());
  }

  TEST_CASE("what is being prepared ends with the gateway, and is no failure") {
    const Machine machine;
    std::promise<void> begun;
    std::vector<std::string> said;
    auto preparation = machine.prepare([&](const std::string& text) {
      said.push_back(text);
      if (said.size() == 1) begun.set_value();
    });
    begun.get_future().wait();
    preparation.reset();
    CHECK(said.size() == 1);
    CHECK_FALSE(machine.is_prepared());
  }
}
