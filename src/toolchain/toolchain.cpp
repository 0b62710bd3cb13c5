// SPDX-License-Identifier: Apache-2.0

#include "toolchain/toolchain.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "analyzer/object_symbols.h"
#include "core/file.h"
#include "core/file_stamp.h"
#include "toolchain/driver_output.h"
#include "toolchain/image_file.h"

namespace mcpac::toolchain {
namespace {

// One set of flags for analysis and compilation: two sets would be two programs.
// The limits bound what a hostile source can ask of the compiler beside the sandbox's own limits.
const std::vector<std::string>& language_flags() {
  static const std::vector<std::string> flags{
      "--no-default-config", "-std=c++23", "-stdlib=libc++", "-O0", "-fno-crash-diagnostics",
      "-ferror-limit=20", "-ftemplate-depth=256", "-fbracket-depth=256",
      "-fconstexpr-steps=4000000",
      // A function that ends without its value does anything at all.
      "-Werror=return-type"};
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

// The driver looks whether its inputs are there, but they will be only inside the sandbox. So it is
// asked about empty stand-ins below a folder, whose name is then taken out of its answer.
Result<TemporaryFolder> make_stand_ins() {
  auto folder = TemporaryFolder::create(user_temporary_folder(), "mcpac-driver-");
  if (!folder) return folder;
  for (const std::string& file :
       {in(inside::kInclude, "mcpac/warm.hpp"), std::string(inside::kRuntimePch),
        std::string(inside::kAgentHeader), std::string(inside::kPch),
        in(inside::kPrepared, "runtime.o"), in(inside::kPrepared, "random_device.o"),
        in(inside::kOutput, "runtime.pch"), in(inside::kOutput, "agent.o"),
        in(inside::kSource, "agent.cpp"), in(inside::kOutput, "objects")}) {
    const std::filesystem::path stand_in = folder->path().string() + file;
    std::error_code error;
    std::filesystem::create_directories(stand_in.parent_path(), error);
    if (auto written = write_file_atomic(stand_in, ""); !written) return pass_on(written);
  }
  return folder;
}

// The runner: everything that an agent may need of the libraries, at an address of its own. A
// question of the unwinder is answered by the runner, which alone knows where an image lies. What
// the runner defines itself takes the place of what a library defines.
std::vector<std::string> runner_flags() {
  auto flags = with(language_flags(),
                    {"-static", "-fuse-ld=lld", "-Wl,--no-dependent-libraries", "-Wl,--strip-debug",
                     fmt::format("-Wl,--image-base={:#x}", kRunnerBegin),
                     "-Wl,--wrap=_dl_find_object", "-Wl,-z,muldefs"});
  for (const auto name : analyzer::known_c_functions())
    flags.push_back(fmt::format("-Wl,--undefined={}", name));
  return flags;
}

// The linker itself needs no driver to be told what is in an image.
std::vector<std::string> image_command(const std::string& linker) {
  return {linker,
          "-m",
          "elf_x86_64",
          "-static",
          "--threads=1",
          "--hash-style=gnu",
          "--build-id=none",
          "--eh-frame-hdr",
          "--gc-sections",
          "--no-dependent-libraries",
          "--strip-debug",
          "-z",
          "norelro",
          fmt::format("--image-base={:#x}", kImageBegin),
          "-e",
          "mcpac_image_table",
          inside::kFirstInput,
          "{objects}",
          in(inside::kPrepared, "image_table.o"),
          in(inside::kAddresses, "addresses.o"),
          "-o",
          in(inside::kOutput, "agent")};
}

// The driver's answer about stand-ins, in the words of the sandbox.
void rename_stand_ins(std::vector<std::string>& words, const std::string& base) {
  const std::pair<std::string, const char*> named[] = {
      {in(inside::kSource, "agent.cpp"), "{source}"},
      {in(inside::kOutput, "objects"), "{objects}"}};
  for (std::string& word : words) {
    if (const auto at = word.find(base); at != std::string::npos) word.erase(at, base.size());
    for (const auto& [path, name] : named) {
      if (word == path) word = name;
    }
  }
}

// Request to the driver: the flags, and where its answer goes.
struct Question {
  std::vector<std::string>& answer;
  std::vector<std::string> flags;
};

const std::string& include_flag() {
  static const std::string flag = fmt::format("-isystem{}", inside::kInclude);
  return flag;
}

// Of headers, and of programs that include them; `here`: where a path of the sandbox is now.
template <class Here>
std::vector<Question> of_headers(Toolchain& toolchain, const Here& here) {
  return {{toolchain.make_runtime,
           with(language_flags(), {include_flag(), "-fpch-instantiate-templates", "-fpch-codegen",
                                   "-xc++-header", here(in(inside::kInclude, "mcpac/warm.hpp")),
                                   "-o", here(in(inside::kOutput, "runtime.pch"))})},
          {toolchain.compile_runtime,
           with(language_flags(), {"-O2", "-c", here(in(inside::kOutput, "runtime.pch")), "-o",
                                   here(in(inside::kOutput, "runtime.o"))})},
          // What the headers themselves need is instantiated here once, not in every program. No
          // code is generated: a program uses few of the types of its servers.
          {toolchain.make_pch,
           with(language_flags(),
                {include_flag(), "-include-pch", here(inside::kRuntimePch),
                 "-fpch-instantiate-templates", "-xc++-header", here(inside::kAgentHeader), "-o",
                 here(in(inside::kOutput, "agent.pch"))})}};
}

template <class Here>
std::vector<Question> of_programs(Toolchain& toolchain, const Here& here) {
  const std::string source = here(in(inside::kSource, "agent.cpp"));
  return {{toolchain.compile,
           with(language_flags(), {include_flag(), "-include-pch", here(inside::kPch), "-c",
                                   "-xc++", source, "-o", here(in(inside::kOutput, "agent.o"))})},
          {toolchain.link,
           with(language_flags(),
                {"-static", "-fuse-ld=lld", "-Wl,--no-dependent-libraries", "-Wl,--strip-debug",
                 here(in(inside::kOutput, "agent.o")), here(in(inside::kPrepared, "runtime.o")),
                 here(in(inside::kPrepared, "random_device.o")), "-o",
                 here(in(inside::kOutput, "agent"))})},
          {toolchain.compile_runner,
           with(language_flags(), {"-O2", "-c", "-xc++", source, "-o", "{object}"})},
          {toolchain.link_runner,
           with(runner_flags(),
                {"-Wl,--whole-archive", here(in(inside::kOutput, "objects")), "-lc++", "-lm",
                 "-Wl,--no-whole-archive", "-o", here(in(inside::kOutput, "runner"))})}};
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
  auto stand_ins = make_stand_ins();
  if (!stand_ins) return pass_on(stand_ins);
  const std::string base = stand_ins->path().string();
  const auto here = [&base](std::string_view inside_path) {
    return base + std::string(inside_path);
  };
  Toolchain toolchain;
  for (const auto& questions : {of_headers(toolchain, here), of_programs(toolchain, here)}) {
    for (const Question& question : questions) {
      auto answer = ask(driver, question.flags);
      if (!answer) return pass_on(answer);
      rename_stand_ins(*answer, base);
      question.answer = std::move(*answer);
    }
  }
  toolchain.link_image = image_command(toolchain.link.front());
  toolchain.analyze =
      with(language_flags(), {include_flag(), "-include-pch", inside::kPch, "-xc++"});
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
  std::string identity = llvm.native() + '\n';
  // The last three stand for the headers of libc, the kernel and the JSON library: absolute paths
  // win.
  for (const char* name : {"bin/clang", "bin/ld.lld", "lib/libclang-cpp.so.19.1",
                           "lib/libclang-19.so.19", "../x86_64-linux-gnu/libLLVM.so.19.1",
                           "lib/libc++.a", "include/c++/v1/__config", "/usr/include/features.h",
                           "/usr/include/linux/version.h", "/usr/include/nlohmann/json.hpp"}) {
    std::error_code error;
    const auto file = llvm / name;
    const auto leads_to = std::filesystem::read_symlink(file, error);  // empty: it is no link
    const auto stamp = stamp_of(file);
    // Without device and inode, which are others in each start of a container.
    const auto text =
        stamp ? fmt::format("{} {}", stamp->size, stamp->modified.text()) : std::string("absent");
    identity += fmt::format("{} {} {}\n", name, leads_to.native(), text);
  }
  return identity;
}

Json to_json(const Toolchain& toolchain) {
  return {{"make_runtime", toolchain.make_runtime},
          {"compile_runtime", toolchain.compile_runtime},
          {"make_pch", toolchain.make_pch},
          {"compile", toolchain.compile},
          {"link", toolchain.link},
          {"compile_runner", toolchain.compile_runner},
          {"link_runner", toolchain.link_runner},
          {"link_image", toolchain.link_image},
          {"runner_digest", toolchain.runner_digest},
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
  if (read("make_runtime", toolchain.make_runtime) &&
      read("compile_runtime", toolchain.compile_runtime) && read("make_pch", toolchain.make_pch) &&
      read("compile", toolchain.compile) && read("link", toolchain.link) &&
      read("compile_runner", toolchain.compile_runner) &&
      read("link_runner", toolchain.link_runner) && read("link_image", toolchain.link_image) &&
      read("analyze", toolchain.analyze)) {
    const Json* digest = find_member(json, "runner_digest");
    if (digest != nullptr && digest->is_string()) toolchain.runner_digest = *digest;
    return toolchain;
  }
  return fail(ErrorId::kToolchainMissing, "the cached toolchain commands cannot be read",
              {.fix = "remove the mcpac cache folder; it is made again"});
}

}  // namespace mcpac::toolchain
