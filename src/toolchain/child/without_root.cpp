#include "toolchain/child/without_root.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/overlay.h"
#include "toolchain/child/scratch_file.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;
using analyzer::Overlay;
using sandbox::Mount;

constexpr char kFile[] = "overlay.json";

bool is_at_its_path(const Mount& mount) {
  return mount.inside.lexically_normal() == mount.host.lexically_normal();
}

// /lib is a link to /usr/lib on most systems, so both paths lead to the mount.
bool leads_to_itself(const Mount& mount) {
  std::error_code error;
  return fs::equivalent(mount.host, mount.inside, error);
}

std::string at_host(const Overlay& overlay, const std::string& word) {
  return word.starts_with('/') ? overlay.on_host(word).native() : word;
}

// Clang writes its output past its overlay, and reads a header that it makes code of past it, too.
// The name of the overlay stands in a header that is made with it, so it is the same for all.
void tell_clang(const Overlay& overlay, std::vector<std::string>& words) {
  const auto output = std::ranges::find(words, "-o");
  if (output != words.end() && output + 1 != words.end()) output[1] = at_host(overlay, output[1]);
  // Of a temporary file beside it each "%" in its path would be another letter.
  words.insert(words.begin() + 2, "-fno-temp-file");
  if (std::ranges::find(words, "precompiled-header") != words.end()) {
    words.back() = at_host(overlay, words.back());
    return;
  }
  words.insert(words.begin() + 2, {Overlay::kFlag, kFile});
}

}  // namespace

Result<WithoutRoot> without_root(sandbox::Spec spec) {
  if (std::ranges::all_of(spec.mounts, is_at_its_path))
    return WithoutRoot{std::move(spec), nullptr};
  auto folder = TemporaryFolder::create(user_temporary_folder(), "mcpac-overlay-");
  if (!folder) return pass_on(folder);
  Overlay overlay;
  for (Mount& mount : spec.mounts) {
    overlay.map(mount.inside, mount.host);
    if (!is_at_its_path(mount) && leads_to_itself(mount)) mount.host = mount.inside;
    mount.inside = mount.host;
  }
  if (auto written = write_scratch(folder->path() / kFile, overlay.to_text(), 0444); !written)
    return pass_on(written);
  spec.mounts.push_back({folder->path(), folder->path(), Mount::Access::kRead});
  const fs::path inside_work = std::exchange(spec.work_directory, folder->path());
  auto& words = spec.arguments;
  if (words.size() > 1 && words[1] == "-cc1") {
    tell_clang(overlay, words);
  } else if (spec.program.filename() == "mcpac-analyzer") {
    words.insert(words.begin() + 1, {Overlay::kFlag, kFile});
  } else {
    // As of clang's: lld makes its output beside the path that it is told.
    const fs::path work = spec.work_directory = overlay.on_host(inside_work);
    for (std::string& word : words) {
      const fs::path host = at_host(overlay, word);
      word = host.parent_path() == work ? host.filename().native() : host.native();
    }
  }
  return WithoutRoot{std::move(spec), std::make_shared<const TemporaryFolder>(std::move(*folder))};
}

}  // namespace mcpac::toolchain
