// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/slip_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analyzer/clang/quoted.h"
#include "core/nearest_name.h"

namespace mcpac::analyzer {
namespace {

// What programs write of the namespace mcpac; the errors stand first.
const std::vector<std::string>& public_names() {
  static const std::vector<std::string> names{"Denied",     "InvalidArguments",
                                              "ToolError",  "TransportError",
                                              "Timeout",    "BudgetExceeded",
                                              "Revoked",    "Error",
                                              "ErrorKind",  "Requires",
                                              "Narrow",     "Json",
                                              "Future",     "Expected",
                                              "ToolResult", "Content",
                                              "Required",   "Optional",
                                              "Nullable",   "Connection",
                                              "files",      "network",
                                              "argument",   "arguments",
                                              "log",        "empty",
                                              "absent"};
  return names;
}
constexpr std::size_t kErrors = 8;
// Longer lists are in `tools describe`.
constexpr std::size_t kShownNames = 8;

bool any_note(const std::vector<std::string>& notes, std::string_view text) {
  return std::ranges::any_of(notes,
                             [text](const std::string& note) { return note.contains(text); });
}

// "DeniedError" is Denied, "PermissionDenied" too, and "TimeoutException" is Timeout.
std::string meant_of_mcpac(std::string name) {
  if (std::string near = nearest_name(name, public_names()); !near.empty()) return near;
  for (const std::string_view end : {"Error", "Exception"}) {
    if (!name.ends_with(end) || name.size() == end.size()) continue;
    const std::string bare = name.substr(0, name.size() - end.size());
    for (const std::string& one : {bare, bare + "Error"}) {
      if (std::string near = nearest_name(one, public_names()); !near.empty()) return near;
    }
  }
  for (const std::string& one : public_names()) {
    if (one.size() > 4 && one != "Error" && name.contains(one)) return one;
  }
  return name.ends_with("Error") || name.ends_with("Exception") ? "Error" : "";
}

// "no type named 'DeniedError' in namespace 'mcpac'"
std::optional<Translation> unknown_of_mcpac(std::string_view message) {
  if (!message.ends_with("in namespace 'mcpac'") && !message.contains("in namespace 'mcpac';"))
    return std::nullopt;
  const std::string name{quoted_after(message, " named '")};
  if (name.empty()) return std::nullopt;
  const std::string meant = meant_of_mcpac(name);
  const auto errors = std::vector(public_names().begin(), public_names().begin() + kErrors);
  const bool is_error = std::ranges::find(errors, meant) != errors.end();
  return Translation{
      fmt::format("`{}` is no name of mcpac{}", name,
                  meant.empty() ? "" : fmt::format("; did you mean `mcpac::{}`?", meant)),
      is_error ? fmt::format("catch (const mcpac::{}& error); the errors are {}, and Error is the "
                             "base of all",
                             meant, fmt::join(errors.begin(), errors.end() - 1, ", "))
               : fmt::format("the names of mcpac are {}", fmt::join(public_names(), ", "))};
}

// "no member named 'Tool' in 'mcpac::ErrorKind'", and texts that name none.
std::optional<Translation> unknown_kind(std::string_view message) {
  static const std::vector<std::string> kinds{"denied",    "invalid_arguments", "tool",
                                              "transport", "timeout",           "budget",
                                              "revoked",   "internal"};
  const std::string fix = fmt::format(
      "error.kind() == mcpac::ErrorKind::tool; the kinds are {}, or by their classes {}",
      fmt::join(kinds, ", "), fmt::join(public_names().begin(), public_names().begin() + 7, ", "));
  if (message.starts_with("call to consteval function 'mcpac::detail::KindName"))
    return Translation{"the text is no kind of error", fix};
  if (message.starts_with("invalid operands to binary expression") &&
      message.contains("ErrorKind'"))
    return Translation{"a kind is compared with a kind, or with a literal of its name", fix};
  if (!message.contains("' in 'mcpac::ErrorKind'")) return std::nullopt;
  const std::string name{quoted_after(message, " named '")};
  std::string near = meant_of(name, kinds);
  for (const std::string& kind : kinds) {
    if (near.empty() && name.starts_with(kind)) near = kind;
  }
  for (std::size_t i = 0; i < 7 && near.empty(); ++i) {
    if (meant_of_mcpac(name) == public_names()[i]) near = kinds[i];
  }
  return Translation{
      fmt::format("`{}` is no kind of error{}", name,
                  near.empty() ? "" : fmt::format("; did you mean `mcpac::ErrorKind::{}`?", near)),
      fix};
}

// What C++23 has and the library of agents has not: what stands in its place.
std::optional<Translation> missing_in_library(std::string_view message) {
  struct Missing {
    std::string_view name;
    std::string_view instead;
  };
  static constexpr std::array kViews{
      "enumerate", "chunk",         "slide",    "join_with", "stride",
      "adjacent",  "zip_transform", "pairwise", "as_const",  "cartesian_product"};
  static constexpr std::array kRest{
      Missing{"generator", "fill a std::vector, or write a coroutine with its own promise_type"},
      Missing{"jthread", "std::thread, and join it"},
      Missing{"move_only_function", "std::function of what can be copied (std::shared_ptr)"},
      Missing{"flat_map", "std::map"},
      Missing{"fold_left_first", "std::ranges::fold_left(range, init, f)"},
      Missing{"fold_right", "std::ranges::fold_left(range | std::views::reverse, init, f)"},
      Missing{"iota", "std::iota(range.begin(), range.end(), 0)"},
      Missing{"zoned_time", "std::chrono::sys_time; there are no time zones"},
      Missing{"parse", "read the numbers of a date by std::from_chars"}};
  if (!message.starts_with("no ") || !message.contains(" in namespace 'std")) return std::nullopt;
  const std::string_view name = quoted_after(message, " named '");
  std::string fix;
  if (std::ranges::find(kViews, name) != kViews.end())
    fix = fmt::format("mcpac::views::{} is the same", name);
  for (const Missing& one : kRest) {
    if (one.name == name) fix = one.instead;
  }
  if (fix.empty()) return std::nullopt;
  return Translation{fmt::format("the library, libc++ 19, has no `{}` yet", name), fix};
}

// "no member named 'Entity' in 'mcp::memory::create_entities::Args'", of a struct or an enum.
std::optional<Translation> unknown_inside(std::string_view message, const Known& known) {
  const std::string name{quoted_after(message, " named '")};
  const std::string owner{quoted_after(message, "' in '")};
  const bool is_name = message.starts_with("no member named") ||
                       message.starts_with("no type named") ||
                       message.starts_with("no template named");
  if (!is_name || name.empty() || !owner.starts_with("mcp::") || !known.names_in)
    return std::nullopt;
  auto names = known.names_in(owner);
  if (names.empty()) return std::nullopt;
  const std::string near = meant_of(name, names);
  const bool is_long = names.size() > kShownNames;
  if (is_long) names.resize(kShownNames);
  // "create_entities::Args::Entities": the server is known where one stands.
  const auto server = owner.find("::", owner.find("::") + 2);
  const std::string shown = server == std::string::npos ? owner : owner.substr(server + 2);
  return Translation{
      fmt::format("`{}` has no `{}`{}", shown, name,
                  near.empty() ? "" : fmt::format("; did you mean `{}`?", near)),
      fmt::format("{}it has {}{}", near.empty() ? "" : fmt::format("write {}; ", near),
                  fmt::join(names, ", "), is_long ? ", …" : "")};
}

// `r.content` where r.content() was meant.
std::optional<Translation> not_called(std::string_view message, const Known& known) {
  if (!message.starts_with("reference to non-static member function must be called") ||
      known.word.empty())
    return std::nullopt;
  return Translation{fmt::format("`{}` is a function, and here it is not called", known.word),
                     fmt::format("write .{}()", known.word)};
}

// `list.push_back(e)` and `Entities one = e;`, where `e` is another struct with such members.
std::optional<Translation> other_struct(std::string_view message,
                                        const std::vector<std::string>& notes, const Known& known) {
  const bool converts = message.starts_with("no viable conversion from '") ||
                        message.starts_with("no matching member function for call to ") ||
                        message.starts_with("no viable overloaded '='");
  if (!converts || !known.names_in) return std::nullopt;
  std::vector<std::string> texts{std::string(message)};
  texts.insert(texts.end(), notes.begin(), notes.end());
  for (const std::string& text : texts) {
    if (!text.contains("conversion from '")) continue;
    std::string from{quoted_after(text, "conversion from '")};
    std::string to{quoted_after(text, " to '")};
    for (std::string* name : {&from, &to}) {
      if (name->starts_with("const ")) name->erase(0, 6);
      while (name->ends_with('&') || name->ends_with(' ')) name->pop_back();
      if (name->ends_with(" const")) name->erase(name->size() - 6);
    }
    // Behind `using namespace mcp` as the program writes it.
    if (to.contains("::Args::") && !to.starts_with("mcp::")) to.insert(0, "mcp::");
    const auto args = to.find("::Args::");
    if (!to.starts_with("mcp::") || args == std::string::npos || from == to) continue;
    std::vector<std::string> fields = known.names_in(to);
    if (fields.empty()) continue;
    std::string made;
    for (const std::string& field : fields)
      made += fmt::format("{}.{} = …", made.empty() ? "" : ", ", field);
    const std::string shown = to.substr(5, args - 5) + to.substr(args + 6);
    return Translation{
        fmt::format("a `{}` is no `{}`, member for member the same or not", from, shown),
        fmt::format("write {{{}}} from its members; a whole list of structs with the "
                    "same members is taken as it is",
                    made)};
  }
  return std::nullopt;
}

std::optional<Translation> copied_future(std::string_view message,
                                         const std::vector<std::string>& notes) {
  const bool copies = message.contains("Future<") && message.contains("deleted");
  const bool in_library =
      message.starts_with("no matching function for call to '__construct_at'") &&
      any_note(notes, "mcpac::Future<");
  if (!copies && !in_library) return std::nullopt;
  return Translation{"a future is read once, so it can be moved and not copied",
                     "std::move(f) where it is handed on; [f = std::move(f)]() mutable { … f.get() "
                     "… } or [&f] in a lambda; auto& f in a loop over futures"};
}

std::optional<Translation> connection(std::string_view message,
                                      const std::vector<std::string>& notes) {
  constexpr std::string_view kFix =
      "int agent_main(mcpac::Requires<mcpac::network, …> rt), and rt.network.connect(\"host\", "
      "443)";
  const bool free_one = message.starts_with("no matching function for call to 'connect'") &&
                        any_note(notes, "requires 0 arguments");
  if (free_one)
    return Translation{"an agent connects to a host through its capability", std::string(kFix)};
  const bool is_host =
      any_note(notes, "connect' declared here") || any_note(notes, "connect_plain' declared here");
  if (is_host && message.starts_with("too few arguments to function call, expected 2, have 1"))
    return Translation{"host and port are two arguments, a text and a number",
                       "rt.network.connect(\"host\", 443), or connect_plain without TLS"};
  return std::nullopt;
}

// "reference to 'filesystem' is ambiguous": `using namespace std` beside `using namespace mcp`.
std::optional<Translation> ambiguous_server(std::string_view message, const Request& request) {
  if (!message.starts_with("reference to '") || !message.ends_with("' is ambiguous"))
    return std::nullopt;
  const std::string name{quoted_after(message, "reference to '")};
  const std::string begin = fmt::format("mcp::{}::", name);
  const bool is_server = std::ranges::any_of(
      request.permissions, [&begin](const auto& one) { return one.first.starts_with(begin); });
  if (!is_server) return std::nullopt;
  return Translation{
      fmt::format("`{}` is a namespace of std and a server here", name),
      fmt::format("write mcp::{} (and std::{} for the other), or leave out `using namespace std`",
                  name, name)};
}

std::optional<Translation> missing_return(std::string_view message) {
  if (!message.starts_with("non-void ") || !message.contains("does not return a value"))
    return std::nullopt;
  const bool some = message.contains("in all control paths");
  return Translation{
      some ? "one way through this function ends without a `return`"
           : "this function ends without its `return`",
      "return a value at its end (an int agent_main: return 0;), or let it return void"};
}

// A result where a Json was meant, by itself or in the braces of one.
std::optional<Translation> result_as_json(std::string_view message,
                                          const std::vector<std::string>& notes,
                                          const Request& request, const Known& known) {
  const bool is_json = message.contains("mcpac::Json'") || message.contains("basic_json") ||
                       any_note(notes, "basic_json<");
  const bool converts = message.starts_with("no matching constructor for initialization of") ||
                        message.starts_with("no viable conversion from ") ||
                        message.starts_with("no viable overloaded '='");
  if (!is_json || !converts) return std::nullopt;
  std::string tool = tool_of_result(message, request);
  for (auto note = notes.begin(); tool.empty() && note != notes.end(); ++note) {
    if (note->contains("no known conversion from")) tool = tool_of_result(*note, request);
  }
  if (tool.empty() && known.result_in_braces) {
    const auto found = request.permissions.find(known.result_in_braces());
    if (found != request.permissions.end()) tool = found->second;
  }
  if (tool.empty()) return std::nullopt;
  return Translation{fmt::format("the result of {} is no mcpac::Json", tool),
                     "result.text() is its text, result.json() the same read as JSON: "
                     "return {{\"text\", result.text()}};"};
}

}  // namespace

std::optional<Translation> translate_slip(std::string_view message,
                                          const std::vector<std::string>& notes,
                                          const Request& request, const Known& known) {
  if (auto name = unknown_of_mcpac(message)) return name;
  if (auto kind = unknown_kind(message)) return kind;
  if (auto missing = missing_in_library(message)) return missing;
  if (auto call = not_called(message, known)) return call;
  if (auto future = copied_future(message, notes)) return future;
  if (auto host = connection(message, notes)) return host;
  if (auto server = ambiguous_server(message, request)) return server;
  if (auto value = missing_return(message)) return value;
  if (auto json = result_as_json(message, notes, request, known)) return json;
  if (auto other = other_struct(message, notes, known)) return other;
  return unknown_inside(message, known);
}

}  // namespace mcpac::analyzer
