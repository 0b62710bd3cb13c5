// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/sources.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analyzer/clang/analysis.h"
#include "analyzer/lead.h"
#include "analyzer/overlay.h"

namespace mcpac::analyzer {
namespace {

namespace fs = std::filesystem;

struct ProcessOverlay {
  Overlay overlay;
  std::vector<std::string> flags;
};
ProcessOverlay& process_overlay() {
  static ProcessOverlay used;
  return used;
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(on_disk(path), error);
  return error ? fs::path() : real;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  if (folder.empty() || path.empty()) return false;
  const auto [in_folder, in_path] = std::ranges::mismatch(folder, path);
  return in_folder == folder.end();
}

// Where clang 19 looks on Debian without being told; the arguments may name more.
constexpr std::array<std::string_view, 5> kToolchain{
    "/usr/include", "/usr/local/include", "/usr/lib/gcc", "/usr/lib/clang", "/usr/lib/llvm-19"};
// Longest first where one is the beginning of another.
constexpr std::array<std::string_view, 5> kIncludeFlags{"-cxx-isystem", "-idirafter", "-isystem",
                                                        "-iquote", "-I"};

std::vector<fs::path> system_folders(const std::vector<std::string>& arguments) {
  std::vector<fs::path> folders;
  const auto add = [&folders](const fs::path& folder) {
    if (auto real = real_path(folder); !real.empty()) folders.push_back(std::move(real));
  };
  for (const std::string_view folder : kToolchain) add(folder);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    for (const std::string_view flag : kIncludeFlags) {
      if (!argument.starts_with(flag)) continue;
      if (argument.size() > flag.size()) {
        add(argument.substr(flag.size()));
      } else if (i + 1 < arguments.size()) {
        add(arguments[i + 1]);
      }
      break;
    }
  }
  return folders;
}

}  // namespace

Result<void> use_overlay(const fs::path& file) {
  auto overlay = Overlay::read(file);
  if (!overlay) return pass_on(overlay);
  process_overlay() = {std::move(*overlay), {Overlay::kFlag, file.native()}};
  return {};
}

fs::path on_disk(const fs::path& path) {
  return process_overlay().overlay.on_host(path);
}

const std::vector<std::string>& overlay_flags() {
  return process_overlay().flags;
}

Sources::Sources(const Request& request)
    : main_name_(request.file),
      main_(real_path(request.source_path)),
      folder_(request.source_dir.empty() ? main_.parent_path() : real_path(request.source_dir)),
      headers_(real_path(request.headers_dir)),
      system_(system_folders(request.arguments)) {}

Home Sources::home_of_path(const fs::path& path) const {
  const fs::path real = real_path(path);
  if (real.empty()) return Home::kForeign;
  if (real == main_) return Home::kProgram;
  if (is_below(real, headers_)) return Home::kHeaders;
  // A flag may name the program's own folder or one above it; that makes its files no system's.
  for (const fs::path& folder : system_) {
    if (is_below(real, folder) && !is_below(main_, folder)) return Home::kSystem;
  }
  return is_below(real, folder_) ? Home::kProgram : Home::kForeign;
}

const Sources::Known& Sources::look_up(CXFile file) const {
  const auto found = known_.find(file);
  if (found != known_.end()) return found->second;
  Known known;
  if (file != nullptr) {
    const fs::path path = take(clang_getFileName(file));
    known.is_lead = lead::is_part(path.native());
    known.home = known.is_lead ? Home::kHeaders : home_of_path(path);
    known.is_main = real_path(path) == main_;
    known.name = known.is_main ? main_name_ : path.string();
  } else {
    known.name = main_name_;
  }
  return known_.emplace(file, std::move(known)).first->second;
}

Home Sources::home(CXFile file) const {
  return look_up(file).home;
}
std::string Sources::name(CXFile file) const {
  return look_up(file).name;
}

}  // namespace mcpac::analyzer
