// SPDX-License-Identifier: Apache-2.0

// The small files of a control group (cgroup v2), by a descriptor of its folder.
//
// Nothing here allocates beyond its answer or waits. No answer: the file is not there, which is how
// an older kernel, or a group without that controller, says no.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/file.h"

namespace mcpac::sandbox::cgroup {

[[nodiscard]] UniqueFd open_folder(int at, const std::string& path);
[[nodiscard]] std::optional<std::string> read(int group, const char* file);
// 0 or errno.
[[nodiscard]] int write(int group, const char* file, std::string_view text);

// "oom_kill 3" of a file of such lines; with an empty key the number that is the file.
[[nodiscard]] std::optional<std::uint64_t> number(int group, const char* file,
                                                  std::string_view key = {});
// Whether the file, a list of words, has all of them.
[[nodiscard]] bool lists(int group, const char* file,
                         std::initializer_list<std::string_view> words);

}  // namespace mcpac::sandbox::cgroup
