// Narrow<Tag>: a permission for less than a whole tool. Derive from it and say what is meant in the
// grant language; the analyzer reads `where`, the host enforces it.
//
//   struct read_data : mcpac::Narrow<mcp::filesystem::read_text_file> {
//     static constexpr char where[] = "path within ./data";
//   };
#pragma once

#include <string_view>

namespace mcpac {

template <class Tag>
struct Narrow {
  static_assert(
      !requires { typename Tag::whole; }, "narrow a tool, not a narrowed permission");
  using whole = Tag;
  using server = typename Tag::server;
  using Args = typename Tag::Args;
  using Result = typename Tag::Result;
  static constexpr ::std::string_view name = Tag::name;
  static constexpr ::std::string_view permission = Tag::permission;
  template <class P>
  using Member = typename Tag::template Member<P>;
};

}  // namespace mcpac
