// Files: the permission of a program that reads or writes files itself, with <fstream> and
// <filesystem>.
//
//   int agent_main(mcpac::Requires<mcpac::files> rt) {
//     std::ifstream in("data/list.txt");
//
// It has no methods: what was granted with `--files PATH` or `--files PATH:rw` is there, at its own
// place, and everything else is absent. Declared without a grant the program does not start;
// granted and not declared, nothing is there.
#pragma once

#include <string_view>

#include "method.hpp"
#include "session.hpp"

namespace mcpac {

struct files;

// Nothing to call.
template <>
class Method<files> {
 public:
  explicit constexpr Method(Session*) noexcept {}
};

namespace detail {

// Adds no member to a Requires.
struct files_server {
  static constexpr ::std::string_view name = "mcpac.files";
  template <class F>
  struct Member {
    constexpr Member(const F&) noexcept {}
  };
};

}  // namespace detail

// The permission: declared as a tool is, and granted with `--files PATH`.
struct files {
  using server = detail::files_server;
  static constexpr ::std::string_view name = "files";
  static constexpr ::std::string_view permission = "mcpac.files";
  template <class P>
  struct Member : Method<P> {};
};

}  // namespace mcpac
