#include "execute/files/repository.h"

#include "core/folded_name.h"

namespace mcpac::execute {

void RepositoryParts::add(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  if (name.size() > kLongest) return;
  const auto plain = folded(name);
  head_ = head_ || plain == "head";
  objects_ = objects_ || plain == "objects";
  refs_ = refs_ || plain == "refs";
  elsewhere_ = elsewhere_ || plain == "commondir";
}

}  // namespace mcpac::execute
