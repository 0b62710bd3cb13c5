// SPDX-License-Identifier: Apache-2.0

// Names of any script that are one to some reader although they are written differently: of files,
// and of members of objects. By the tables of Unicode (libunistring).
#pragma once

#include <string>
#include <string_view>

namespace mcpac {

// As Unicode folds case, in form C, of any script: for two names of files that are held against
// each other. What is not UTF-8 stays as it is.
[[nodiscard]] std::string case_folded(std::string_view name);

// A member of an object as decoders read it that do not read exactly: folded (full case folding
// after NFKD), and without what they take off or put together: '_' and '-' (json/v2, .NET,
// pydantic's aliases), white space and characters that are not seen, '.' (which PHP makes '_'),
// brackets ("path[]" of qs, PHP and Rails), ':', '$' and quotation marks.
[[nodiscard]] std::string folded_member(std::string_view name);

}  // namespace mcpac
