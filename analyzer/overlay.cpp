// SPDX-License-Identifier: Apache-2.0

#include "analyzer/overlay.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/file.h"
#include "core/json.h"

namespace mcpac::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxOverlay = std::size_t{1} << 20U;

bool is_at_or_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

void Overlay::map(fs::path inside, fs::path host) {
  places_.emplace_back(std::move(inside), std::move(host));
}

fs::path Overlay::on_host(const fs::path& inside) const {
  const fs::path plain = inside.lexically_normal();
  const std::pair<fs::path, fs::path>* best = nullptr;
  for (const auto& place : places_) {
    const bool is_longer =
        best == nullptr || place.first.native().size() > best->first.native().size();
    if (is_longer && is_at_or_below(plain, place.first)) best = &place;
  }
  if (best == nullptr) return inside;
  const fs::path rest = plain.lexically_relative(best->first);
  return rest == "." ? best->second : best->second / rest;
}

std::string Overlay::to_text() const {
  Json roots = Json::array();
  for (const auto& [inside, host] : places_) {
    std::error_code error;
    const char* type = fs::is_directory(host, error) ? "directory-remap" : "file";
    roots.push_back(
        {{"type", type}, {"name", inside.native()}, {"external-contents", host.native()}});
  }
  // "redirect-only": other paths are not there. The names are those of tier A, in messages too.
  const Json text{{"version", 0},
                  {"case-sensitive", "true"},
                  {"use-external-names", "false"},
                  {"overlay-relative", "false"},
                  {"redirecting-with", "redirect-only"},
                  {"roots", roots}};
  return mcpac::to_text(text);
}

Result<Overlay> Overlay::read(const fs::path& file) {
  auto text = read_file(file, kMaxOverlay);
  if (!text) return pass_on(text);
  auto json = parse_json(*text, file.string());
  if (!json) return pass_on(json);
  Overlay overlay;
  const Json* roots = find_member(*json, "roots");
  if (roots == nullptr || !roots->is_array())
    return fail(ErrorId::kFileUnreadable, fmt::format("{} is no overlay", file.string()));
  for (const Json& root : *roots) {
    const Json* name = find_member(root, "name");
    const Json* host = find_member(root, "external-contents");
    if (name == nullptr || host == nullptr || !name->is_string() || !host->is_string())
      return fail(ErrorId::kFileUnreadable, fmt::format("{} is no overlay", file.string()));
    overlay.map(name->get<std::string>(), host->get<std::string>());
  }
  return overlay;
}

}  // namespace mcpac::analyzer
