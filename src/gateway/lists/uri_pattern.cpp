#include "gateway/lists/uri_pattern.h"

#include <algorithm>

namespace mcpac::gateway {
namespace {

constexpr std::size_t kMostBytes = 1'024;
constexpr std::size_t kMostBetween = 8;

}  // namespace

UriPattern::UriPattern(std::string_view uri_template) {
  const bool is_cut = uri_template.size() > kMostBytes;
  std::string_view rest = uri_template.substr(0, kMostBytes);
  auto open = rest.find('{');
  begin_ = rest.substr(0, open);
  has_expression_ = is_cut || open != std::string_view::npos;
  while (open != std::string_view::npos) {
    const auto close = rest.find('}', open);
    if (close == std::string_view::npos) return;  // no template that can be read: any
    rest.remove_prefix(close + 1);
    open = rest.find('{');
    const auto literal = rest.substr(0, open);
    if (open == std::string_view::npos && !is_cut) {
      end_ = literal;
      return;
    }
    add_between(literal);
    if (between_.size() == kMostBetween) return;
  }
}

void UriPattern::add_between(std::string_view literal) {
  if (literal.empty()) return;
  between_.push_back({literal.size(), Search(literal.data(), literal.data() + literal.size())});
}

Meaning UriPattern::may_mean(std::string_view uri, Work& work) const {
  const auto length = std::min(begin_.size(), uri.size());
  if (!work.suffices_for(length + 1)) return Meaning::kCannotTell;
  const auto* const differs =
      std::mismatch(begin_.begin(), begin_.end(), uri.begin(), uri.end()).first;
  const auto same = static_cast<std::size_t>(differs - begin_.begin());
  work.spend(same + 1);
  if (same < begin_.size()) return Meaning::kNo;
  uri.remove_prefix(same);
  if (!has_expression_) return uri.empty() ? Meaning::kMay : Meaning::kNo;
  for (const Between& one : between_) {
    if (!work.suffices_for(uri.size())) return Meaning::kCannotTell;
    const char* const last = uri.data() + uri.size();
    const auto found = one.search(uri.data(), last);
    work.spend(static_cast<std::size_t>(found.second - uri.data()));
    if (found.first == last) return Meaning::kNo;
    uri.remove_prefix(static_cast<std::size_t>(found.second - uri.data()));
  }
  return uri.ends_with(end_) ? Meaning::kMay : Meaning::kNo;
}

}  // namespace mcpac::gateway
