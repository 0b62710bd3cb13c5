// SPDX-License-Identifier: Apache-2.0

// Identity: recognises the runtime's own types by the file that declares them.
//
// A type counts as mcpac::Requires, mcpac::Method, mcpac::Narrow or a tool's tag only when the name
// is right AND its definition and its first declaration stand in the generated headers, whose
// digest the lock holds. Everything that only looks so is a forgery (rule forged-type).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/reach.h"
#include "analyzer/clang/sources.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

// One permission of a Requires: the whole tool, or the part that `where` admits.
struct Authority {
  std::string permission;
  std::string where;
};

// Why a type is no permission: the rule that it breaks, and the sentence.
struct NoAuthority {
  std::string rule;
  std::string message;
  std::string fix;
};

class Identity {
 public:
  Identity(const Request& request, const Sources& sources) : request_(request), sources_(sources) {}
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  [[nodiscard]] bool is_requires(CXType type) const { return is_runtime(type, "mcpac::Requires"); }
  [[nodiscard]] bool is_method(CXType type) const { return is_runtime(type, "mcpac::Method"); }
  // A member function of Method that calls the tool; the permission is that of its class.
  [[nodiscard]] std::optional<std::string> called_permission(CXCursor function) const;
  // The permission of a Method<P>.
  [[nodiscard]] std::optional<std::string> method_permission(CXType method) const;
  // The Args of a Method<P>; kind CXType_Invalid where they are free-form JSON.
  [[nodiscard]] static CXType args_of(CXType method);
  // The same for the permission itself, a tool's tag or a Narrow of it.
  [[nodiscard]] static CXType args_of_permission(CXType permission);
  // The type arguments of a Requires.
  [[nodiscard]] static std::vector<CXType> permissions_of(CXType type);
  [[nodiscard]] std::variant<Authority, NoAuthority> authority_of(CXType permission) const;
  // The class that stands for the inside of a capability: Requires, Method and what they are made
  // of.
  [[nodiscard]] bool is_capability(CXType type) const;
  // The connection to the host itself, and a call in flight on it.
  [[nodiscard]] bool is_connection(CXType type) const {
    return is_runtime(type, "mcpac::Session") || is_runtime(type, "mcpac::Pending");
  }
  // A capability, or what has one inside: a member, a base, an element, a type argument.
  [[nodiscard]] bool holds_capability(CXType type) const { return holding_.reaches(type); }
  // Called Requires, Method or Narrow, but not ours.
  [[nodiscard]] bool looks_like_runtime(CXType type) const;
  // The C++ name of a tag that ends with this tool name: "mcp::filesystem::read_text_file".
  [[nodiscard]] std::vector<std::string> permissions_named(std::string_view cpp_tool) const;
  [[nodiscard]] const Request& request() const { return request_; }

 private:
  [[nodiscard]] bool is_runtime(CXType type, std::string_view name) const;
  [[nodiscard]] bool declared_in_headers(CXCursor declaration) const;
  [[nodiscard]] std::optional<std::string> tag_permission(CXCursor declaration) const;
  [[nodiscard]] std::variant<Authority, NoAuthority> narrowed(CXCursor declaration,
                                                              CXType tool) const;

  const Request& request_;
  const Sources& sources_;
  // The inside of the library's classes depends on their arguments alone.
  Reach holding_{[this](CXType type) { return is_capability(type); },
                 [this](CXCursor record) { return sources_.home(record) != Home::kSystem; }};
};

}  // namespace mcpac::analyzer
