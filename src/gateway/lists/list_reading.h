// ListReading: one list of a server as its pages come, held to what a list may be.
//
// A server decides how many pages there are, how long they are and what a cursor is; a list that is
// beyond these bounds is none. Half of one would be worse: whose a URI is follows from lists.
// Entries are kept as they are; one without a usable name or URI is left out.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "gateway/lists/list_kind.h"

namespace mcpac::gateway {

class ListReading {
 public:
  explicit ListReading(ListKind kind) : kind_(kind) {}

  // Cursor of the next page; nothing: the list is whole. The error: why it is given up.
  using Next = std::expected<std::optional<std::string>, std::string>;
  [[nodiscard]] Next add(const Json& page);
  [[nodiscard]] std::vector<Json> take_entries() { return std::exchange(entries_, {}); }
  // Of what it holds, as text.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // For how long the server says that it holds; zero: it does not say.
  [[nodiscard]] std::chrono::milliseconds fresh() const { return fresh_; }

 private:
  void add_entries(const Json& entries);

  ListKind kind_;
  std::vector<Json> entries_;
  std::set<std::string> keys_;
  std::set<std::string> cursors_;
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
  std::chrono::milliseconds fresh_{0};
};

}  // namespace mcpac::gateway
