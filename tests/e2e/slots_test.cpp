// Runners that wait in their sandbox, with real images: what becomes of them, and of a host that
// sends anything else (docs/adr/0024).
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/file.h"
#include "e2e/workspace.h"
#include "places.h"
#include "run/image_start.h"
#include "run/slot.h"
#include "toolchain/image_file.h"

using e2e::Workspace;
using namespace mcpac;
using Kind = sandbox::Verdict::Kind;

namespace {

namespace fs = std::filesystem;

// A runner and an image of the real build: the newest kept program.
struct Built {
  fs::path runner;
  TemporaryFolder folder =
      TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  fs::path image = folder.path() / "agent";

  Built() {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\n#include <print>\n"
        "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) {\n"
        "  std::println(\"a slot's program\");\n  return 4;\n}\n",
        "filesystem.read_text_file");
    REQUIRE_MESSAGE(run.exit_code == 4, run.err);
    const fs::path cache = Workspace::shared_cache() / "mcpac";
    for (const auto& prepared : fs::directory_iterator(cache / "prepared")) {
      if (fs::exists(prepared.path() / "agent.pch")) runner = prepared.path() / "runner";
    }
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(cache / "programs")) {
      if (newest.empty() || entry.last_write_time() > fs::last_write_time(newest))
        newest = entry.path();
    }
    // Two lines, the form, a report, the program (seen_programs.cpp).
    const std::string bytes = read_file(newest).value();
    const auto first = bytes.find('\n');
    const auto second = bytes.find('\n', first + 1);
    REQUIRE(bytes.at(second + 1) == 'i');
    const auto length = std::stoul(bytes.substr(first + 1, second - first - 1));
    REQUIRE(write_file_atomic(image, bytes.substr(second + 2 + length)).has_value());
  }
  static const Built& once() {
    static const Built built;
    return built;
  }
};

struct Host {
  sandbox::Warden warden =
      sandbox::Warden::start(mcpac::testing::in_build("libexec/mcpac/mcpac-warden")).value();
  sandbox::Spec spec;
  Host() {
    spec.program = Built::once().runner;
    spec.arguments = {"mcpac-runner"};
    spec.admits = spec.admits.with(sandbox::ReceivesDescriptors{});
    spec.lowest_tier = sandbox::Tier::kC;
    spec.limits.memory = std::uint64_t{256} << 20U;
  }
};

struct End {
  sandbox::Verdict verdict;
  std::string out;
  std::string err;
};

End end_of(run::Slot& slot) {
  End end;
  const auto into = [](std::string& text) {
    return [&text](std::string_view piece) {
      text += piece;
      return true;
    };
  };
  end.verdict =
      toolchain::attend(std::move(slot.child()),
                        {.standard_output = into(end.out), .standard_error = into(end.err)}, {})
          .value();
  return end;
}

run::ImagePlan plan_of(const toolchain::Image& image) {
  return {image.entry(), image.segments()};
}

UniqueFd memory_with(std::string_view bytes) {
  UniqueFd memory(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(::write(memory.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return memory;
}

}  // namespace

TEST_SUITE("e2e/slots") {
  TEST_CASE("a slot runs the image that it is given, and its time begins then") {
    Host host;
    // Long enough for a program of milliseconds on the busiest machine.
    host.spec.limits.wall = std::chrono::seconds(10);
    auto slot = run::Slot::open(host.warden, host.spec);
    REQUIRE(slot.has_value());
    std::this_thread::sleep_for(host.spec.limits.wall + std::chrono::milliseconds(500));
    slot->make_memory_ready();
    REQUIRE(slot->memory().has_value());
    const auto image = toolchain::Image::read(Built::once().image);
    REQUIRE(image.has_value());
    const auto sealed = std::move(*slot->memory()).sealed_with(image->mapped());
    REQUIRE(sealed.has_value());
    REQUIRE(run::send_image(slot->channel().get(), sealed->get(), plan_of(*image), {"agent"})
                .has_value());
    const End end = end_of(*slot);
    INFO(end.err);
    CHECK(end.verdict.kind == Kind::kExited);
    CHECK(end.verdict.code == 4);
    CHECK(end.out == "a slot's program\n");
  }

  TEST_CASE("a slot that nobody uses ends with the value, and with the host") {
    Host host;
    UniqueFd channel;
    {
      auto slot = run::Slot::open(host.warden, host.spec);
      REQUIRE(slot.has_value());
      channel = UniqueFd(::fcntl(slot->channel().get(), F_DUPFD_CLOEXEC, 3));
    }
    char byte = 0;
    CHECK(::read(channel.get(), &byte, 1) == 0);  // its end is closed
    auto slot = run::Slot::open(host.warden, host.spec);
    REQUIRE(slot.has_value());
    slot->channel().reset();  // as the end of the host would
    CHECK(end_of(*slot).verdict.kind == Kind::kExited);
  }

  TEST_CASE("a runner that is told more than its image ends inside of its sandbox") {
    const auto image = toolchain::Image::read(Built::once().image).value();
    const UniqueFd memory = memory_with(image.mapped());
    Host host;
    auto slot = run::Slot::open(host.warden, host.spec);
    REQUIRE(slot.has_value());
    REQUIRE(::send(slot->channel().get(), "x", 1, MSG_NOSIGNAL) == 1);
    REQUIRE(run::send_image(slot->channel().get(), memory.get(), plan_of(image), {"agent"})
                .has_value());
    ::shutdown(slot->channel().get(), SHUT_WR);
    const End end = end_of(*slot);
    CHECK(end.verdict.kind == Kind::kExited);
    CHECK(end.verdict.code == 70);
  }

  TEST_CASE("a slot fits the sandbox that it was made for and no other") {
    Host host;
    const auto slot = run::Slot::open(host.warden, host.spec);
    REQUIRE(slot.has_value());
    CHECK(slot->fits(host.spec));
    auto other = host.spec;
    other.mounts.push_back({"/usr", "/usr", sandbox::Mount::Access::kRead});
    CHECK_FALSE(slot->fits(other));
    other = host.spec;
    other.admits = other.admits.with(sandbox::ReadsFiles{});
    CHECK_FALSE(slot->fits(other));
    other = host.spec;
    other.limits.memory += 1;
    CHECK_FALSE(slot->fits(other));
    other = host.spec;
    other.program = "/bin/true";
    CHECK_FALSE(slot->fits(other));
  }

  TEST_CASE("a slot whose runner has ended fits nothing any more") {
    Host host;
    auto slot = run::Slot::open(host.warden, host.spec);
    REQUIRE(slot.has_value());
    CHECK(slot->fits(host.spec));
    slot->channel().reset();  // a runner ends with its channel
    pollfd ended{slot->child().child.end_descriptor(), POLLIN, 0};
    REQUIRE(::poll(&ended, 1, 60'000) == 1);
    CHECK_FALSE(slot->fits(host.spec));
  }

  TEST_CASE("whatever a runner is given instead of an image, it ends inside of its sandbox") {
    const auto image = toolchain::Image::read(Built::once().image).value();
    const std::string mapped(image.mapped());
    const std::vector<Elf64_Phdr> segments(image.segments().begin(), image.segments().end());
    struct Given {
      std::string bytes;
      std::uint64_t entry;
      std::vector<Elf64_Phdr> segments;
    };
    std::vector<Given> wrong{{"x", image.entry(), segments},
                             {std::string(mapped.size(), '\0'), image.entry(), segments},
                             {std::string(mapped.size(), '\xff'), image.entry(), segments},
                             {mapped.substr(0, 512), image.entry(), segments},
                             {mapped, image.entry(), {}},
                             {mapped, ~image.entry(), segments}};
    // Each number of each segment, so that it names another place: the runner's own, too.
    for (std::size_t i = 0; i < segments.size() && segments[i].p_type == PT_LOAD; ++i) {
      for (const std::uint64_t place :
           {std::uint64_t{0}, toolchain::kRunnerBegin, ~std::uint64_t{0} << 12U}) {
        Given given{mapped, image.entry(), segments};
        given.segments[i].p_vaddr = place;
        wrong.push_back(given);
      }
      for (const std::uint64_t offset : {std::uint64_t{1} << 30U, ~std::uint64_t{0} << 12U}) {
        Given given{mapped, image.entry(), segments};
        given.segments[i].p_offset = offset;
        wrong.push_back(given);
      }
      Given readable{mapped, image.entry(), segments};
      readable.segments[i].p_flags = 0;
      if (i + 1 < segments.size()) wrong.push_back(readable);
      Given given{mapped, image.entry(), segments};
      given.segments[i].p_filesz = given.segments[i].p_memsz = std::uint64_t{1} << 40U;
      wrong.push_back(given);
    }
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      CAPTURE(i);
      Host host;
      host.spec.limits.wall = std::chrono::seconds(20);
      auto slot = run::Slot::open(host.warden, host.spec);
      REQUIRE(slot.has_value());
      const UniqueFd memory = memory_with(wrong[i].bytes);
      REQUIRE(run::send_image(slot->channel().get(), memory.get(),
                              {wrong[i].entry, wrong[i].segments}, {"agent"})
                  .has_value());
      const End end = end_of(*slot);
      const bool ended = end.verdict.kind == Kind::kSignalled ||
                         (end.verdict.kind == Kind::kExited && end.verdict.code == 70);
      CHECK_MESSAGE(ended, end.verdict.code);
    }
  }

  TEST_CASE("arguments and segments beyond what a runner takes are an error of the host") {
    Host host;
    auto slot = run::Slot::open(host.warden, host.spec);
    REQUIRE(slot.has_value());
    const UniqueFd memory = memory_with("x");
    const auto sent = [&](std::size_t segments, const std::vector<std::string>& arguments) {
      const std::vector<Elf64_Phdr> table(segments);
      return run::send_image(slot->channel().get(), memory.get(), {0, table}, arguments)
          .has_value();
    };
    CHECK_FALSE(sent(1, {}));
    CHECK_FALSE(sent(1, {std::string(5000, 'a')}));
    CHECK_FALSE(sent(1, std::vector<std::string>(65, "a")));
    CHECK_FALSE(sent(toolchain::kMostImageSegments + 1, {"agent"}));
  }
}
