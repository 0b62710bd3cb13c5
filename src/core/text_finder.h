// SPDX-License-Identifier: Apache-2.0

// TextFinder: search for many texts in another, in one pass (Aho and Corasick, 1975).
//
// How many texts are looked for does not change how long that takes: a server that gives many
// tokens, or a text in which they almost stand over and over, does not make it slow. Hits that
// overlap are one place, put together while they are found: no more is remembered than what is left
// in the end. Of a needle of many kilobytes its beginning is enough, and counts for as much of it
// as follows: to know all of it byte by byte would take many times its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac {

class TextFinder {
 public:
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t needle = 0;  // which one begins there: the longest of those that do
    bool operator==(const Place&) const = default;
  };

  static constexpr std::size_t kBeginning = 4'096;
  // Empty ones stand nowhere; of equal ones the first is told.
  explicit TextFinder(const std::vector<std::string>& needles);

  [[nodiscard]] bool occurs_in(std::string_view text) const;
  // All that is covered by hits, in order; places that only touch are two.
  [[nodiscard]] std::vector<Place> find(std::string_view text) const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // What was read last begins like a needle. The children of a node follow on each other, by byte.
  struct Node {
    std::uint32_t first_child = 0;
    std::uint32_t fallback = 0;  // the longest shorter end of it that begins like a needle, too
    std::uint32_t hit = kNone;   // the longest that ends here
    std::uint16_t children = 0;
    unsigned char byte = 0;  // that leads here
  };
  // A needle, or what several long ones begin with.
  struct Hit {
    std::size_t needle = 0;
    std::size_t length = 0;
    struct Rest {
      std::size_t needle = 0;
      std::string text;
    };
    std::vector<Rest> rests;
  };
  void add_hit(Node& node, const std::vector<std::string>& needles, std::size_t needle,
               std::size_t depth);
  static void go_on(const Hit& hit, std::string_view text, std::size_t from, Place& place);
  [[nodiscard]] std::uint32_t child(std::uint32_t node, unsigned char byte) const;
  [[nodiscard]] std::uint32_t step(std::uint32_t node, unsigned char byte) const;

  std::vector<Node> nodes_;  // the root, then by depth
  std::array<std::uint32_t, 256> from_root_{};
  std::vector<Hit> hits_;
};

}  // namespace mcpac
