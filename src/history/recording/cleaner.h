// Cleaner: takes secrets out of what goes into a recording.
//
// Three kinds: values of the configuration (as src/mcp takes them out of results), what a tool's
// schemas call secret, and the texts that stood in such places wherever else they occur, in calls
// before as well as after. So a recording is cleaned as a whole, when it ends. On the loop.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "gate/upstream.h"
#include "history/recording/recorded_tool.h"
#include "history/recording/recording.h"
#include "mcp/secrets.h"

namespace mcpac::history {

class Cleaner {
 public:
  // Borrowed: `servers` know the values of the configuration.
  Cleaner(const gate::Upstream& servers, const codegen::Lock& lock)
      : servers_(servers), lock_(lock) {}

  // Looks at a call before any is cleaned. kRecordingLimit: more secrets than can be looked for,
  // and then none is: a recording with half of them taken out is none.
  [[nodiscard]] Result<void> learn(const RecordedCall& call);
  void clean(RecordedCall& call);
  void clean(RecordedRequest& request) const;
  // The program's arguments. After every call was learnt from.
  [[nodiscard]] Cleaned clean_arguments(const Json& given) const;
  [[nodiscard]] const RecordedTool& tool(const std::string& name);

 private:
  void remember(const Json& before, const Json& after);
  void remember_all(const Json& value);
  // False: the server that has them never started, and its secrets are not known.
  [[nodiscard]] bool take_out(const Permission& tool, Json& value) const;
  [[nodiscard]] Error without_secrets(const Permission& tool, const Error& error) const;
  void without_secrets(const Permission& tool, ipc::ErrorObject& refused) const;

  const gate::Upstream& servers_;
  const codegen::Lock& lock_;
  std::map<std::string, RecordedTool> tools_;
  std::set<std::string> texts_;  // in places that schemas call secret
  mcp::SecretValues found_;      // ... as they are looked for
  bool is_too_much_ = false;     // of them
};

}  // namespace mcpac::history
