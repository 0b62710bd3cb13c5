// SPDX-License-Identifier: Apache-2.0

#include "toolchain/snapshot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "analyzer/lead.h"
#include "core/ascii.h"
#include "core/file.h"
#include "core/hash.h"
#include "toolchain/child/scratch_file.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {
namespace {

// An agent is a page of code; a generated one may be a few thousand lines. More is a mistake or a
// bomb.
constexpr std::size_t kMaxSource = std::size_t{4} << 20U;
constexpr std::size_t kMaxFiles = 128;

// Decodes one UTF-8 sequence at `i` (RFC 3629): its length, or 0 when it is malformed.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(i);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned char second = byte(i + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool beyond = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

Result<void> check_text(std::string_view text, const std::string& display) {
  if (std::ranges::all_of(text,
                          [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; })) {
    return fail(ErrorId::kSourceEmpty, fmt::format("{} is empty", display),
                {.where = display,
                 .fix = "a program needs an entry: `int agent_main(mcpac::Requires<…> rt)`"});
  }
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = text[i] == '\0' ? 0 : utf8_length(text, i);
    if (length == 0) {
      const auto line =
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n') + 1;
      return fail(ErrorId::kSourceNotText, fmt::format("{} is not C++ source text", display),
                  {.where = fmt::format("{}:{}", display, line),
                   .why = text[i] == '\0' ? "it has a NUL byte" : "it is not valid UTF-8"});
    }
    i += length;
  }
  return {};
}

// What clang is told a source by (analyzer/lead.h).
Result<void> check_name(std::string_view name, const std::string& display) {
  auto naming = analyzer::lead::naming(name);
  if (naming) return {};
  Error error = std::move(naming.error());
  error.where = display;
  return std::unexpected(std::move(error));
}

// Opens below the folder and nowhere else: no `..`, no absolute path, no link that leads out, even
// if a folder is swapped for a link while we look.
Result<std::string> read_beneath(const std::filesystem::path& folder,
                                 const std::filesystem::path& relative) {
  const UniqueFd base(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const UniqueFd file(
      static_cast<int>(::syscall(SYS_openat2, base.get(), relative.c_str(), &how, sizeof how)));
  if (!file)
    return fail(ErrorId::kSourceUnreadable, fmt::format("cannot open {}", relative.string()));
  return read_descriptor(file.get(), relative.string(), kMaxSource);
}

struct Quoted {
  std::string name;
  std::size_t at = 0;  // in the text
};

// The names in `#include "…"` lines. A scanner, not a preprocessor: it may find too many (in
// comments, in code that is switched off), which only copies an unused header; an include
// whose name comes from a macro is not found and does not compile.
std::vector<Quoted> quoted_includes(std::string_view text) {
  std::vector<Quoted> names;
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    std::size_t i = text.find_first_not_of(" \t", at + 1);
    if (i == std::string_view::npos || !text.substr(i).starts_with("include")) continue;
    i = text.find_first_not_of(" \t", i + 7);
    if (i == std::string_view::npos || text[i] != '"') continue;
    const auto end = text.find_first_of("\"\n", i + 1);
    if (end != std::string_view::npos && text[end] == '"')
      names.push_back({std::string(text.substr(i + 1, end - i - 1)), at});
  }
  return names;
}

}  // namespace

Result<Source> source_from_file(const std::filesystem::path& file) {
  auto text = read_file(file, kMaxSource);
  if (!text) {
    return fail(ErrorId::kSourceUnreadable, text.error().what, {.where = file.string()});
  }
  if (auto checked = check_text(*text, file.string()); !checked) return pass_on(checked);
  std::error_code error;
  const auto absolute = std::filesystem::absolute(file, error);
  return Source{file.string(), absolute.parent_path(), absolute.filename().string(),
                std::move(*text)};
}

Result<Source> source_from_text(std::string text, std::string display) {
  if (text.size() > kMaxSource) {
    return fail(ErrorId::kSourceUnreadable,
                fmt::format("{} is larger than {} bytes", display, kMaxSource));
  }
  if (auto checked = check_text(text, display); !checked) return pass_on(checked);
  return Source{std::move(display), {}, "agent.cpp", std::move(text)};
}

bool is_includable(const std::filesystem::path& name) {
  constexpr std::string_view kEndings[] = {".h",   ".hh",  ".hpp", ".hxx", ".h++", ".inc",
                                           ".inl", ".ipp", ".tpp", ".txx", ".tcc", ".def",
                                           ".c",   ".cc",  ".cpp", ".cxx", ".c++"};
  const bool is_hidden = std::ranges::any_of(name, [](const std::filesystem::path& part) {
    return part.native().starts_with('.') && part != "." && part != "..";
  });
  const std::string ending = lowered(name.extension().native());
  return !is_hidden && std::ranges::find(kEndings, ending) != std::end(kEndings);
}

Result<void> Snapshot::add_headers(const Source& source) {
  std::vector<std::string> waiting;
  for (const auto& [name, bytes] : files_) waiting.push_back(name);
  const std::size_t most = files_.size() + kMaxFiles;
  while (!waiting.empty()) {
    const std::filesystem::path current = waiting.back();
    waiting.pop_back();
    for (const auto& include : quoted_includes(files_.at(current.string()))) {
      const auto relative = (current.parent_path() / include.name).lexically_normal();
      // Outside the folder it is not copied; the analyzer then reports the include with its place.
      const bool outside = relative.empty() || relative.is_absolute() || *relative.begin() == "..";
      if (source.folder.empty() || outside || files_.contains(relative.string())) continue;
      if (!is_includable(relative)) continue;
      auto bytes = read_beneath(source.folder, relative);
      if (!bytes) continue;  // the compiler says "file not found", with the line
      if (files_.size() >= most) {
        return fail(ErrorId::kSourceUnreadable,
                    fmt::format("{} includes more than {} files", source.display, kMaxFiles));
      }
      if (auto checked = check_text(*bytes + "x", relative.string()); !checked) return checked;
      files_[relative.string()] = std::move(*bytes);
      waiting.push_back(relative.string());
    }
  }
  return {};
}

Result<void> Snapshot::write(const std::filesystem::path& folder) const {
  return write_scratch_files(folder, files_);
}

Result<Snapshot> Snapshot::take(const Source& source) {
  if (auto named = check_name(source.name, source.display); !named) return pass_on(named);
  Snapshot snapshot;
  snapshot.files_[source.name] = source.text;
  snapshot.sources_.push_back({source.name, source.display});
  for (const auto& file : source.further) {
    if (auto named = check_name(file.name, file.display); !named) return pass_on(named);
    snapshot.files_[file.name] = file.text;
    snapshot.sources_.push_back({file.name, file.display});
  }
  if (auto added = snapshot.add_headers(source); !added) return pass_on(added);
  return snapshot;
}

std::set<std::string> Snapshot::generated() const {
  std::set<std::string> names;
  std::vector<std::string> waiting;
  for (const auto& [name, text] : files_) {
    const bool is_source = std::ranges::find(sources_, name, &Shown::name) != sources_.end();
    if (!is_source && text.starts_with("// Generated by mcpac ")) waiting.push_back(name);
  }
  while (!waiting.empty()) {
    const std::filesystem::path current = waiting.back();
    waiting.pop_back();
    if (!names.insert(current.string()).second) continue;
    for (const auto& include : quoted_includes(files_.at(current.string()))) {
      auto next = (current.parent_path() / include.name).lexically_normal().string();
      if (files_.contains(next)) waiting.push_back(std::move(next));
    }
  }
  return names;
}

std::vector<Snapshot::Include> Snapshot::includes_of(const std::set<std::string>& names) const {
  std::vector<Include> found;
  for (const auto& [name, text] : files_) {
    if (names.contains(name)) continue;
    const auto folder = std::filesystem::path(name).parent_path();
    for (const auto& include : quoted_includes(text)) {
      if (!names.contains((folder / include.name).lexically_normal().string())) continue;
      const auto line =
          1 +
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(include.at), '\n');
      found.push_back({name, static_cast<unsigned>(line), include.name});
    }
  }
  return found;
}

std::vector<std::string> Snapshot::sources_inside() const {
  std::vector<std::string> paths;
  for (const Shown& source : sources_)
    paths.push_back(fmt::format("{}/{}", inside::kSource, source.name));
  return paths;
}

std::size_t Snapshot::source_shown_as(std::string_view display) const {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].display == display) return i;
  }
  return 0;
}

std::string Snapshot::digest() const {
  std::string all;
  for (const auto& [path, bytes] : files_) all += fmt::format("{} {}\n", sha256_hex(bytes), path);
  return sha256_hex(all);
}

namespace {

// Whether a path ends here: "a.cpp2" does not name "a.cpp".
bool ends_name(std::string_view rest) {
  if (rest.empty()) return true;
  const char c = rest.front();
  const bool of_name = is_bare(c) || static_cast<unsigned char>(c) >= 0x80 || c == '/' ||
                       (c == '.' && rest.size() > 1 && is_alphanumeric(rest[1]));
  return !of_name;
}

}  // namespace

// One pass, so that nothing is replaced in what the user's own names brought in.
std::string Snapshot::to_user(std::string text) const {
  const std::string folder = fmt::format("{}/", inside::kSource);
  const std::string headers = fmt::format("{}/", inside::kInclude);
  // Headers are called by the way to the folder that the user's name of the first source shows.
  const Shown& first = sources_.front();
  const bool below = first.display.ends_with(first.name);
  const std::string prefix =
      below ? first.display.substr(0, first.display.size() - first.name.size()) : std::string();
  std::string shown;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.starts_with(headers)) {
      shown += "servers/";
      rest.remove_prefix(headers.size());
    } else if (rest.starts_with(folder)) {
      rest.remove_prefix(folder.size());
      const auto named = std::ranges::find_if(sources_, [rest](const Shown& source) {
        return rest.starts_with(source.name) && ends_name(rest.substr(source.name.size()));
      });
      shown += named == sources_.end() ? prefix : named->display;
      if (named != sources_.end()) rest.remove_prefix(named->name.size());
    } else {
      shown += rest.front();
      rest.remove_prefix(1);
    }
  }
  return shown;
}

}  // namespace mcpac::toolchain
