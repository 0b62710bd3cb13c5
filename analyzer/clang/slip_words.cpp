#include "analyzer/clang/slip_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

// `mcpac::views::zip`: those of the standard library that it has are not there once more.
std::optional<Translation> unknown_view(std::string_view message) {
  if (!message.contains("in namespace 'mcpac::views'")) return std::nullopt;
  const std::string name{quoted_after(message, " named '")};
  if (name.empty()) return std::nullopt;
  return Translation{
      fmt::format("`{}` is no view of mcpac", name),
      fmt::format(
          "std::views::{}; mcpac::views has what the standard library here lacks: enumerate, "
          "cartesian_product, chunk, slide, join_with",
          name)};
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
  if (auto view = unknown_view(message)) return view;
  if (auto call = not_called(message, known)) return call;
  if (auto future = copied_future(message, notes)) return future;
  if (auto host = connection(message, notes)) return host;
  if (auto server = ambiguous_server(message, request)) return server;
  if (auto value = missing_return(message)) return value;
  if (auto json = result_as_json(message, notes, request, known)) return json;
  return unknown_inside(message, known);
}

}  // namespace mcpac::analyzer
