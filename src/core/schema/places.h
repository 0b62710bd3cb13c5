// SPDX-License-Identifier: Apache-2.0

// Places: the schemas that may apply at each place of a value, over all branches of anyOf, oneOf
// and if.
//
// Validation asks whether a value holds; this asks what its schema knows of it, for callers that
// must not depend on the form that a server will choose (member names, defaults). "not" says what a
// value is not, and counts for nothing. Found on demand and kept; not thread-safe. Lives as long as
// the Program.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/node.h"

namespace mcpac::schema {

using NodeSet = std::vector<const Node*>;  // sorted, none twice

// One place: the schemas that may apply there, all forms included.
struct Place {
  NodeSet nodes;
  // Filled by Places.
  std::map<std::string, Place*, std::less<>> members;
  Place* others = nullptr;  // members that no "properties" names, where no pattern does
  std::vector<Place*> elements;
  [[nodiscard]] bool names(const std::string& name) const;
};

class Places {
 public:
  // With `keep`, nodes for which it is false are left out.
  using Keep = std::function<bool(const Node*)>;
  explicit Places(const Program& program, Keep keep = {});
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  [[nodiscard]] Place& root();
  [[nodiscard]] Place& member(Place& of, const std::string& name);
  [[nodiscard]] Place& element(Place& of, std::size_t index);
  // Every member that some "properties" of the place names, and what holds for any other name.
  [[nodiscard]] static std::vector<std::string> named_members(const Place& of);
  [[nodiscard]] Place& any_other_member(Place& of);
  // All elements, whichever index they have.
  [[nodiscard]] Place& any_element(Place& of);
  // Nodes looked at so far: what it cost.
  [[nodiscard]] std::size_t work() const { return work_; }
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  [[nodiscard]] Place& place_of(NodeSet start);
  void close(NodeSet& nodes);
  void add_next(const Node& node, NodeSet& open) const;

  const Program& program_;
  Keep keep_;
  std::map<NodeSet, std::unique_ptr<Place>> known_;
  std::size_t work_ = 0;
};

}  // namespace mcpac::schema
