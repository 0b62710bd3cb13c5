#include "execute/toolchain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "execute/driver_output.h"

namespace mcpac::execute {
namespace {

// One set of flags for analysis and compilation: two sets would be two programs.
// The limits bound what a hostile source can ask of the compiler beside the sandbox's own limits.
const std::vector<std::string>& language_flags() {
  static const std::vector<std::string> flags{
      "--no-default-config",      "-std=c++23",       "-stdlib=libc++",       "-O1",
      "-fno-crash-diagnostics",   "-ferror-limit=20", "-ftemplate-depth=256", "-fbracket-depth=256",
      "-fconstexpr-steps=4000000"};
  return flags;
}

std::vector<std::string> with(std::vector<std::string> flags,
                              std::initializer_list<std::string> more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

std::string in(std::string_view folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

}  // namespace

Result<Toolchain> ask_driver(const std::filesystem::path& llvm) {
  const auto driver = llvm / "bin" / "clang++";
  std::error_code error;
  if (!std::filesystem::exists(driver, error) ||
      !std::filesystem::exists(llvm / "bin" / "ld.lld", error)) {
    return fail(ErrorId::kToolchainMissing,
                fmt::format("clang 19 and lld 19 are not at {}", llvm.string()),
                {.fix = "apt-get install clang-19 lld-19 libc++-19-dev libc++abi-19-dev"});
  }
  const std::string include = fmt::format("-isystem{}", inside::kInclude);
  Toolchain toolchain;
  struct Question {
    std::vector<std::string>& answer;
    std::vector<std::string> flags;
  };
  const std::array questions{
      Question{toolchain.make_pch,
               with(language_flags(), {include, "-fpch-instantiate-templates", "-fpch-codegen",
                                       "-xc++-header", in(inside::kInclude, "mcpac/warm.hpp"), "-o",
                                       in(inside::kOutput, "agent.pch")})},
      Question{toolchain.compile_pch,
               with(language_flags(), {"-c", in(inside::kOutput, "agent.pch"), "-o",
                                       in(inside::kOutput, "agent_pch.o")})},
      Question{toolchain.compile,
               with(language_flags(), {include, "-include-pch", inside::kPch, "-c", "-xc++",
                                       "{source}", "-o", in(inside::kOutput, "agent.o")})},
      Question{toolchain.link,
               with(language_flags(),
                    {"-static", "-fuse-ld=lld", "-Wl,--no-dependent-libraries", "-Wl,--strip-debug",
                     in(inside::kOutput, "agent.o"), in(inside::kPrepared, "agent_pch.o"), "-o",
                     in(inside::kOutput, "agent")})},
  };
  for (const Question& question : questions) {
    auto answer = ask(driver, question.flags);
    if (!answer) return pass_on(answer);
    question.answer = std::move(*answer);
  }
  toolchain.analyze = with(language_flags(), {include, "-include-pch", inside::kPch, "-xc++"});
  return toolchain;
}

std::vector<sandbox::Mount> toolchain_mounts(const std::filesystem::path& llvm) {
  using Access = sandbox::Mount::Access;
  std::vector<sandbox::Mount> mounts{
      {llvm, llvm, Access::kReadExecute},
      {"/usr/include", "/usr/include", Access::kRead},
      {"/usr/lib/gcc", "/usr/lib/gcc", Access::kRead},
      {"/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", Access::kReadExecute},
      {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", Access::kReadExecute},
      {"/lib64", "/lib64", Access::kReadExecute},
  };
  std::erase_if(mounts, [](const sandbox::Mount& mount) {
    std::error_code error;
    return !std::filesystem::exists(mount.host, error);
  });
  return mounts;
}

std::string toolchain_identity(const std::filesystem::path& llvm) {
  std::string identity;
  for (const char* name : {"bin/clang", "bin/ld.lld", "lib/libclang-cpp.so.19.1", "lib/libc++.a"}) {
    std::error_code error;
    const auto file = std::filesystem::canonical(llvm / name, error);
    const auto size = std::filesystem::file_size(file, error);
    const auto time = std::filesystem::last_write_time(file, error).time_since_epoch().count();
    identity += fmt::format("{} {} {}\n", file.string(), size, time);
  }
  return identity;
}

Json to_json(const Toolchain& toolchain) {
  return {{"make_pch", toolchain.make_pch},
          {"compile_pch", toolchain.compile_pch},
          {"compile", toolchain.compile},
          {"link", toolchain.link},
          {"analyze", toolchain.analyze}};
}

Result<Toolchain> toolchain_from_json(const Json& json) {
  Toolchain toolchain;
  const auto read = [&json](const char* name, std::vector<std::string>& into) {
    const Json* member = find_member(json, name);
    if (member == nullptr || !member->is_array()) return false;
    for (const Json& item : *member) {
      if (!item.is_string()) return false;
      into.push_back(item.get<std::string>());
    }
    return !into.empty();
  };
  if (read("make_pch", toolchain.make_pch) && read("compile_pch", toolchain.compile_pch) &&
      read("compile", toolchain.compile) && read("link", toolchain.link) &&
      read("analyze", toolchain.analyze)) {
    return toolchain;
  }
  return fail(ErrorId::kToolchainMissing, "the cached toolchain commands cannot be read",
              {.fix = "remove the mcpac cache folder; it is made again"});
}

}  // namespace mcpac::execute
