// SPDX-License-Identifier: Apache-2.0

// A name as file systems see it that take names for the same which differ in case or in code points
// that are not seen (casefold of ext4 and f2fs): lower case and without what is ignored, as far as
// it can make a plain letter. The warden holds names by it, so it does without tables of Unicode;
// what needs those is in unicode_folding.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mcpac {

// For names that are held against lists of ours, which are ASCII.
[[nodiscard]] std::string folded(std::string_view name);

// Whether `name`, however it is written, is one of `patterns`, which are folded; a '*' in one
// stands for any characters.
[[nodiscard]] bool fits_pattern(std::string_view folded_name, std::string_view pattern);
[[nodiscard]] bool is_one_of(std::string_view name, std::span<const std::string> patterns);

}  // namespace mcpac
