#include "gateway/lists/list_reading.h"

#include <algorithm>
#include <cstdint>

#include "gateway/lists/uri_bound.h"

namespace mcpac::gateway {
namespace {

constexpr std::size_t kMaxPages = 1'000;
constexpr std::size_t kMaxEntries = 10'000;
// Each URI is held against all of them.
constexpr std::size_t kMaxTemplates = 200;
constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;
// Kept with those before it, to know one that comes again; sent back to the server.
constexpr std::size_t kMaxCursor = 8'192;

std::size_t most_of(ListKind kind) {
  return kind == ListKind::kTemplates ? kMaxTemplates : kMaxEntries;
}

}  // namespace

ListReading::Next ListReading::add(const Json& page) {
  const auto give_up = [](const char* why) { return std::unexpected<std::string>(why); };
  const Json* entries = find_member(page, member_of(kind_));
  if (entries == nullptr || !entries->is_array()) return give_up("a page of it is no list");
  add_entries(*entries);
  if (const Json* ttl = find_member(page, "ttlMs"); ttl != nullptr && ttl->is_number_unsigned())
    fresh_ = std::chrono::milliseconds(
        std::min<std::uint64_t>(ttl->get<std::uint64_t>(), std::uint64_t{1} << 30U));
  // A page may hold as much as a message: one that is the last is held to the bounds as well.
  if (++pages_ >= kMaxPages) return give_up("it has too many pages");
  if (bytes_ > kMaxBytes) return give_up("it is too long");
  if (entries_.size() > most_of(kind_)) return give_up("it has too many entries");
  std::string cursor = string_member(page, "nextCursor");
  if (cursor.empty()) return std::nullopt;
  if (cursor.size() > kMaxCursor) return give_up("a cursor of it is longer than 8,192 bytes");
  if (!cursors_.insert(cursor).second) return give_up("a cursor of it comes again");
  return cursor;
}

void ListReading::add_entries(const Json& entries) {
  for (const Json& entry : entries) {
    const std::string key = string_member(entry, key_of(kind_));
    if (key.empty() || key.size() > kMaxUri || !keys_.insert(key).second) continue;
    bytes_ += to_text(entry).size();
    entries_.push_back(entry);
  }
}

}  // namespace mcpac::gateway
