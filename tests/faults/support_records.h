// The records of runs that were killed: each is there, whole, and knows every call that was made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faults/support_scene.h"

namespace faults {

enum class Ended : std::uint8_t { kByItself, kKilled };

class Records {
 public:
  explicit Records(const Scene& scene) : scene_(scene) {}

  // The records that there are now are nobody's question any more.
  void skip() { known_ = scene_.runs(); }
  // Holds the record of the one run since then, if it came to have one, against the calls that
  // reached the servers: none may be missing.
  void check_new(Ended host);

  [[nodiscard]] std::size_t proven() const { return proven_; }
  [[nodiscard]] std::size_t unfinished() const { return unfinished_; }
  [[nodiscard]] std::size_t calls() const { return calls_; }

 private:
  [[nodiscard]] std::size_t allowed_calls(const std::string& run) const;

  const Scene& scene_;
  std::vector<std::string> known_;
  std::size_t proven_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace faults
