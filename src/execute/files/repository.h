// Repository: whether a folder is one that git takes for its own, whatever the folder is called.
//
// Git looks at the folder it is started in, and a prompt starts it: what the folder's `config`
// names (core.fsmonitor) is run. No single name gives such a folder away, only that it holds some
// together (gitrepository-layout(5)).
#pragma once

#include <string_view>

namespace mcpac::execute {

class RepositoryParts {
 public:
  // One name that lies in the folder, however it is written.
  void add(std::string_view name);
  [[nodiscard]] bool is_whole() const { return head_ && (elsewhere_ || (objects_ && refs_)); }

 private:
  bool head_ = false;
  bool objects_ = false;
  bool refs_ = false;
  bool elsewhere_ = false;  // `commondir` says where the rest lies
};

inline constexpr std::string_view kRepositoryParts[] = {"HEAD", "objects", "refs", "commondir"};

}  // namespace mcpac::execute
