// SPDX-License-Identifier: Apache-2.0

// PlayOrder: matching of calls to recorded calls, in a permitted order. Pure; it knows no server
// and no time.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "history/recording/recording.h"

namespace mcpac::history {

class PlayOrder {
 public:
  // Borrowed. `reads_only`: of each call, whether its tool only reads.
  PlayOrder(const std::vector<RecordedCall>& calls, const std::vector<bool>& reads_only);

  // The first call not made yet of those that these arguments fit.
  [[nodiscard]] std::optional<std::size_t> find(const std::string& tool,
                                                const Json& arguments) const;
  // A call that has to be made before this one, and is not.
  [[nodiscard]] std::optional<std::size_t> missing_before(std::size_t call) const;
  void make(std::size_t call);

  [[nodiscard]] bool is_made(std::size_t call) const { return made_[call]; }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  using Ends = std::set<std::pair<std::uint64_t, std::size_t>>;  // tick of its end, call
  struct Server {
    Ends reads;
    Ends writes;
  };
  [[nodiscard]] Server& server_of(const RecordedCall& call);

  const std::vector<RecordedCall>& calls_;
  const std::vector<bool>& reads_only_;
  std::vector<bool> made_;
  std::size_t left_;
  std::map<std::string, std::set<std::size_t>> exact_;   // by tool and arguments; not made
  std::map<std::string, std::set<std::size_t>> hidden_;  // by tool: those with marks; not made
  std::map<std::string, Server, std::less<>> servers_;   // not made
};

}  // namespace mcpac::history
