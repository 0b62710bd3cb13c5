// The real `mcpac serve`, as a test starts it, and the official client before it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "e2e/workspace.h"

namespace mcpac::gateway::testing {

[[nodiscard]] std::string mcpac_program();

// `mcpac serve --http 127.0.0.1:0 …` in the workspace's folder, until it is ended.
class Serving {
 public:
  Serving(const e2e::Workspace& workspace, std::vector<std::string> options);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // By SIGTERM; its exit code.
  int end();
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // What it said of each of its doors over HTTP: its own, and those of the options.
  [[nodiscard]] const std::vector<Json>& doors() const { return doors_; }

 private:
  pid_t pid_ = 0;
  std::string url_;
  std::string token_;
  std::uint16_t port_ = 0;
  std::vector<Json> doors_;
};

// A call as sdk_client.mjs takes it: [tool, arguments].
[[nodiscard]] Json made(std::string_view tool, const Json& arguments);
// What the official client saw: {"server", "tools", "results", "progress", "asked"}.
[[nodiscard]] Json official_client(const e2e::Workspace& workspace, std::vector<std::string> words);
// It starts `mcpac serve` with these options itself; `answer`: of the person behind it, to forms.
[[nodiscard]] Json served_over_stdio(const e2e::Workspace& workspace,
                                     std::vector<std::string> options, const Json& calls,
                                     const std::string& answer = "");
// The text of a result's first content.
[[nodiscard]] std::string text_in(const Json& result);
// What the audit log holds of this kind.
[[nodiscard]] std::vector<Json> events(const e2e::Workspace& workspace, const std::string& kind);

}  // namespace mcpac::gateway::testing
