#include "policy/match/path_readings.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/percent_code.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

bool is_blank(char c) {
  return static_cast<unsigned char>(c) <= 0x20;
}

// "~", "~/x", "~root/x": a home. Where somebody else's lies is not known here, so it is taken for
// the owner's, who is often meant by name as well.
std::optional<std::string_view> below_home(std::string_view text) {
  if (!text.starts_with('~')) return std::nullopt;
  const auto end = std::min(text.find('/'), text.size());
  const auto name = text.substr(1, end - 1);
  const bool is_name = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
  return is_name ? std::optional(text.substr(end)) : std::nullopt;
}

// Behind "file:", blanks before it and line ends in it left out, as URL parsers do.
std::optional<std::string> file_url_path(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  if (text.empty() || (text.front() != 'f' && text.front() != 'F')) return std::nullopt;
  std::string clean;
  for (const char c : text) {
    if (c != '\t' && c != '\n' && c != '\r') clean += c == '\\' ? '/' : c;
  }
  constexpr std::string_view kScheme = "file:";
  const auto same = [](char a, char b) { return a == b || a + ('a' - 'A') == b; };
  if (clean.size() < kScheme.size() ||
      !std::equal(kScheme.begin(), kScheme.end(), clean.begin(),
                  [&](char want, char is) { return same(is, want); })) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view(clean).substr(kScheme.size());
  if (rest.starts_with("//")) {  // the host, which file servers leave empty or call localhost
    rest.remove_prefix(2);
    rest.remove_prefix(std::min(rest.find('/'), rest.size()));
  }
  return "/" + percent_decoded(rest);
}

// One reading. Too long for the kernel as it stands is still opened by servers that tidy the text.
void add(std::string_view text, std::string_view prefix, std::vector<PathValue>& readings) {
  PathValue path{prefix.empty() ? text.starts_with('/') : true, {}};
  std::vector<std::string_view> tidy;
  std::size_t length = 0;
  std::size_t ups = 0;  // ".." that stand at the beginning of `tidy`
  const bool keeps_raw = text.size() <= kMaxPath;
  if (keeps_raw) path.components = split(text);
  while (!keeps_raw && !text.empty()) {
    const auto slash = std::min(text.find('/'), text.size());
    const auto name = text.substr(0, slash);
    text.remove_prefix(std::min(slash + 1, text.size()));
    if (name.empty() || name == ".") continue;
    if (name == ".." && tidy.size() > ups) {
      length -= tidy.back().size() + 1;
      tidy.pop_back();
      continue;
    }
    if (name == "..") {
      if (path.absolute) continue;
      ++ups;
    }
    tidy.push_back(name);
    length += name.size() + 1;
  }
  if (length > kMaxPath) return;
  if (!keeps_raw) path.components.assign(tidy.begin(), tidy.end());
  for (auto& name : path.components) name = nfc(name);
  if (!prefix.empty()) {
    Components whole = split(prefix);
    whole.insert(whole.end(), path.components.begin(), path.components.end());
    path.components = std::move(whole);
  }
  readings.push_back(std::move(path));
}

}  // namespace

std::vector<PathValue> path_readings(std::string_view text, std::string_view home) {
  std::vector<PathValue> readings;
  if (text.empty()) return readings;
  add(text, "", readings);
  if (const auto rest = below_home(text); rest && home.starts_with('/')) add(*rest, home, readings);
  if (const auto path = file_url_path(text)) {
    add(*path, "", readings);
    // A query or fragment is part of the name to some, and no part of the path to others.
    if (const auto end = path->find_first_of("?#"); end != std::string::npos)
      add(std::string_view(*path).substr(0, end), "", readings);
  }
  return readings;
}

}  // namespace mcpac::policy
