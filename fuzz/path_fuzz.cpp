// SPDX-License-Identifier: Apache-2.0

// The path decision: whatever `within` admits is really below its base by the text, is caught by a
// deny of the same test, and is not admitted once it is an exception.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "one_tool.h"

namespace {

using namespace mcpac;
using namespace mcpac::fuzz;
using policy::Authority;

constexpr std::string_view kBase = "/base/data";

// Another reading of the same words: the standard library's.
bool is_below(std::string_view base, std::string_view value) {
  namespace fs = std::filesystem;
  const fs::path whole =
      value.starts_with('/') ? fs::path(value) : fs::path("/base") / fs::path(value);
  const std::string normal = whole.lexically_normal().string();
  return normal == base || normal.starts_with(std::string(base) + "/");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Authority within = load({"t.use(text within ./data)"}, {});
  static Authority except = load({"t.use(text within ./data except {./data/secret})"}, {});
  static Authority denied = load({"t.use"}, {"t.use(text within ./data)"});
  static Authority glob = load({"t.use(text matches ./data/**/*.txt)"}, {});
  const std::string value(reinterpret_cast<const char*>(data), size);
  const Json text(value);
  const bool admitted = allows(within, text);
  if (admitted) {
    demand(is_below(kBase, value));
    demand(!allows(denied, text));
  }
  if (allows(except, text)) {
    demand(admitted);
    demand(!is_below("/base/data/secret", value));
  }
  if (allows(glob, text)) demand(admitted && value.ends_with(".txt"));
  return 0;
}
