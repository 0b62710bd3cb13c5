// The path decision: whatever `within` admits is really below its base by the text, is caught by a
// deny of the same test, and is not admitted once it is an exception.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "policy/authority.h"

namespace {

using namespace mcpac;
using policy::Authority;

constexpr std::string_view kBase = "/base/data";

Authority load(std::vector<std::string> grants, std::vector<std::string> denies) {
  static const policy::ToolSchemas tools = {
      {Permission::parse("fs.read").value(),
       Json::parse(R"({"type": "object", "properties": {"path": {"type": "string"}}})")}};
  policy::Environment environment{.tools = &tools, .bases = {}};
  environment.bases.current_directory = "/base";
  environment.bases.home = "/home/somebody";
  auto authority = Authority::load({{.name = "the command line",
                                     .grants = std::move(grants),
                                     .asks = {},
                                     .denies = std::move(denies),
                                     .files = {}}},
                                   environment);
  if (!authority) std::abort();
  return std::move(*authority);
}

bool allows(Authority& authority, const Json& call) {
  static const Permission read = Permission::parse("fs.read").value();
  return authority.decide(read, call).allowed();
}

void demand(bool holds) {
  if (!holds) std::abort();
}

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
  static Authority within = load({"fs.read(path within ./data)"}, {});
  static Authority except = load({"fs.read(path within ./data except {./data/secret})"}, {});
  static Authority denied = load({"fs.read"}, {"fs.read(path within ./data)"});
  static Authority glob = load({"fs.read(path matches ./data/**/*.txt)"}, {});
  const std::string value(reinterpret_cast<const char*>(data), size);
  const Json call{{"path", value}};
  const bool admitted = allows(within, call);
  if (admitted) {
    demand(is_below(kBase, value));
    demand(!allows(denied, call));
  }
  if (allows(except, call)) {
    demand(admitted);
    demand(!is_below("/base/data/secret", value));
  }
  if (allows(glob, call)) demand(admitted && value.ends_with(".txt"));
  return 0;
}
