// SPDX-License-Identifier: Apache-2.0

#include "sandbox/cgroup_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ranges>

namespace mcpac::sandbox::cgroup {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

std::string_view without_end(std::string_view line) {
  return line.substr(0, line.find('\n'));
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

UniqueFd open_folder(int at, const std::string& path) {
  return UniqueFd(::openat(at, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::optional<std::string> read(int group, const char* file) {
  const UniqueFd fd(::openat(group, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::nullopt;
  auto text = read_descriptor(fd.get(), file, kLargestFile);
  if (!text) return std::nullopt;
  return std::move(*text);
}

int write(int group, const char* file, std::string_view text) {
  const UniqueFd fd(::openat(group, file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno;
  return ::write(fd.get(), text.data(), text.size()) < 0 ? errno : 0;
}

std::optional<std::uint64_t> number(int group, const char* file, std::string_view key) {
  const auto text = read(group, file);
  if (!text) return std::nullopt;
  if (key.empty()) return to_number(without_end(*text));
  for (const auto part : std::views::split(*text, '\n')) {
    const std::string_view line(part.begin(), part.end());
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' '))
      return to_number(line.substr(key.size() + 1));
  }
  return std::nullopt;
}

bool lists(int group, const char* file, std::initializer_list<std::string_view> words) {
  const auto text = read(group, file);
  if (!text) return false;
  const std::string_view line = without_end(*text);
  return std::ranges::all_of(words, [line](std::string_view word) {
    return std::ranges::any_of(std::views::split(line, ' '), [word](const auto part) {
      return std::string_view(part.begin(), part.end()) == word;
    });
  });
}

}  // namespace mcpac::sandbox::cgroup
