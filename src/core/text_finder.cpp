// SPDX-License-Identifier: Apache-2.0

#include "core/text_finder.h"

#include <algorithm>
#include <tuple>

namespace mcpac {
namespace {

// The needles that begin like a node: a part of them in their order.
struct Part {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t depth = 0;
};

void add(std::vector<TextFinder::Place>& places, TextFinder::Place hit) {
  while (!places.empty() && places.back().end > hit.begin) {
    const TextFinder::Place& before = places.back();
    if (before.begin < hit.begin) {
      hit.begin = before.begin;
      hit.needle = before.needle;
    }
    hit.end = std::max(hit.end, before.end);
    places.pop_back();
  }
  places.push_back(hit);
}

}  // namespace

TextFinder::TextFinder(const std::vector<std::string>& needles) : nodes_(1) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < needles.size(); ++i) {
    if (!needles[i].empty()) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(needles[a], a) < std::tie(needles[b], b);
  });
  const auto same = [&](std::uint32_t a, std::uint32_t b) { return needles[a] == needles[b]; };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());

  // By depth: what a node falls back on is less deep, and complete when the node is made.
  std::vector<Part> parts{{0, order.size(), 0}};
  for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
    auto [from, to, depth] = parts[at];
    nodes_[at].hit = nodes_[nodes_[at].fallback].hit;
    const bool is_whole = from < to && needles[order[from]].size() == depth;
    if (is_whole || depth == kBeginning) nodes_[at].hit = kNone;
    if (is_whole) add_hit(nodes_[at], needles, order[from++], depth);
    for (; depth == kBeginning && from < to; ++from)
      add_hit(nodes_[at], needles, order[from], depth);
    nodes_[at].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (from < to) {
      const char letter = needles[order[from]][depth];
      std::size_t end = from;
      while (end < to && needles[order[end]][depth] == letter) ++end;
      const auto byte = static_cast<unsigned char>(letter);
      const auto made = static_cast<std::uint32_t>(nodes_.size());
      Node node;
      node.byte = byte;
      if (at == 0)
        from_root_[byte] = made;
      else
        node.fallback = step(nodes_[at].fallback, byte);
      nodes_.push_back(node);
      ++nodes_[at].children;
      parts.push_back({from, end, depth + 1});
      from = end;
    }
  }
}

void TextFinder::add_hit(Node& node, const std::vector<std::string>& needles, std::size_t needle,
                         std::size_t depth) {
  if (node.hit == kNone) {
    node.hit = static_cast<std::uint32_t>(hits_.size());
    hits_.push_back({needle, depth, {}});
  }
  if (needles[needle].size() > depth)
    hits_[node.hit].rests.push_back({needle, needles[needle].substr(depth)});
}

// As far as the text goes on like one of them. What is before `from` is part of a place already and
// not looked at again: so each byte is compared once, however often a text begins anew.
void TextFinder::go_on(const Hit& hit, std::string_view text, std::size_t from, Place& place) {
  const std::size_t known = from - place.end;
  for (const Hit::Rest& rest : hit.rests) {
    if (known >= rest.text.size()) continue;
    const std::string_view more = std::string_view(rest.text).substr(known);
    const auto differs = std::ranges::mismatch(text.substr(from), more).in2;
    const std::size_t end = from + static_cast<std::size_t>(differs - more.begin());
    if (end <= std::max(place.end, from)) continue;
    place.end = end;
    place.needle = rest.needle;
  }
}

std::uint32_t TextFinder::child(std::uint32_t node, unsigned char byte) const {
  if (node == 0) return from_root_[byte];  // 0: none, and stays there
  const auto first = nodes_.begin() + nodes_[node].first_child;
  const auto last = first + nodes_[node].children;
  const auto found = std::ranges::lower_bound(first, last, byte, {}, &Node::byte);
  if (found == last || found->byte != byte) return 0;
  return static_cast<std::uint32_t>(found - nodes_.begin());
}

std::uint32_t TextFinder::step(std::uint32_t node, unsigned char byte) const {
  for (;; node = nodes_[node].fallback) {
    const auto next = child(node, byte);
    if (next != 0 || node == 0) return next;
  }
}

bool TextFinder::occurs_in(std::string_view text) const {
  std::uint32_t node = 0;
  return std::ranges::any_of(text, [&](char c) {
    node = step(node, static_cast<unsigned char>(c));
    return nodes_[node].hit != kNone;
  });
}

std::vector<TextFinder::Place> TextFinder::find(std::string_view text) const {
  std::vector<Place> places;
  std::uint32_t node = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    node = step(node, static_cast<unsigned char>(text[at]));
    // The longest that ends here covers every other that does.
    if (nodes_[node].hit == kNone) continue;
    const Hit& hit = hits_[nodes_[node].hit];
    Place place{at + 1 - hit.length, at + 1, hit.needle};
    go_on(hit, text, places.empty() ? place.end : std::max(place.end, places.back().end), place);
    add(places, place);
  }
  return places;
}

}  // namespace mcpac
