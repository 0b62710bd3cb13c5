// KnownList: one list of a server as it was read, with what makes it quick to look something up.
//
// Made once, when the list comes, and asked for every client. The keys are sorted and not hashed: a
// server chooses them, and could choose such that have the same hash. Never changes.
#pragma once

#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/work.h"
#include "gateway/lists/list_kind.h"
#include "gateway/lists/uri_pattern.h"

namespace mcpac::gateway {

class KnownList {
 public:
  KnownList(ListKind kind, std::vector<Json> entries);
  KnownList(const KnownList&) = delete;
  KnownList& operator=(const KnownList&) = delete;

  // What there is to work out about it, beside other lists.
  [[nodiscard]] std::size_t weight() const { return weight_; }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  [[nodiscard]] bool has(std::string_view key, Work& work) const;
  // Whether one of these templates may mean it; of other lists: none does.
  [[nodiscard]] Meaning may_mean(std::string_view uri, Work& work) const;

  friend bool operator==(const KnownList& one, const KnownList& other) {
    return one.entries_ == other.entries_;
  }

 private:
  std::vector<Json> entries_;
  std::vector<std::string_view> keys_;  // of entries, sorted
  std::vector<UriPattern> patterns_;    // likewise
  std::size_t weight_ = 0;
};

}  // namespace mcpac::gateway
