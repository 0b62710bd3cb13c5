#include "gateway/server_lists.h"

#include <algorithm>
#include <utility>

#include "ipc/json_rpc.h"

namespace mcpac::gateway {
namespace {

constexpr std::size_t kMaxPages = 1'000;
constexpr std::size_t kMaxEntries = 10'000;
// Each URI is held against all of them.
constexpr std::size_t kMaxTemplates = 200;
// Who waits for a list that is being read; for its pages, beside each one's own time.
constexpr std::size_t kMaxWaiting = 1'024;
constexpr std::chrono::minutes kReadingTime(2);
constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;
constexpr std::size_t kMaxKey = 8'192;
// Without a word of its own. A server that announces changes is asked again when it does.
constexpr auto kFreshAnnounced = std::chrono::seconds(60);
constexpr auto kFreshSilent = std::chrono::seconds(5);
constexpr auto kFreshMost = std::chrono::minutes(5);

bool has(const Json* capabilities, std::string_view name) {
  const Json* one = capabilities == nullptr ? nullptr : find_member(*capabilities, name);
  return one != nullptr && one->is_object();
}

std::size_t most_of(ListKind kind) {
  return kind == ListKind::kTemplates ? kMaxTemplates : kMaxEntries;
}

bool announces(const Json* capabilities, ListKind kind) {
  if (!has(capabilities, capability_of(kind))) return false;
  const Json* changes =
      find_member(*find_member(*capabilities, capability_of(kind)), "listChanged");
  return changes != nullptr && changes->is_boolean() && changes->get<bool>();
}

}  // namespace

// A list on its way.
struct ServerLists::Reading {
  Key key;
  std::vector<Json> entries{};
  std::set<std::string> keys{};
  std::set<std::string> cursors{};
  std::chrono::steady_clock::time_point until{};  // after that no further page is asked for
  std::size_t pages = 0;
  std::size_t bytes = 0;
  std::chrono::milliseconds fresh{0};
};

void ServerLists::get(ListKind kind, const std::set<std::string>& servers,
                      std::function<void(const ListsByServer&)> done) {
  struct Gathered {
    ListsByServer lists;
    std::size_t missing;
    std::function<void(const ListsByServer&)> done;
  };
  if (servers.empty()) return done({});
  const auto gathered = std::make_shared<Gathered>(Gathered{{}, servers.size(), std::move(done)});
  for (const std::string& server : servers) {
    get_one({server, kind}, [gathered, server](const ServerList& list) {
      gathered->lists[server] = list;
      if (--gathered->missing == 0) gathered->done(gathered->lists);
    });
  }
}

void ServerLists::get_one(const Key& key, Done done) {
  const auto& [server, kind] = key;
  const Json* capabilities = servers_.capabilities(server);
  Slot& slot = slots_[key];
  // One that is down has what it had; of one that never came up nobody knows.
  if (servers_.is_settled(server) && capabilities == nullptr) return done(slot.list);
  if (servers_.is_settled(server) && !has(capabilities, capability_of(kind)))
    return done(std::make_shared<const KnownList>(kind, std::vector<Json>()));
  if (slot.list && clock_.steady_now() < slot.fresh_until) return done(slot.list);
  if (slot.waiting.size() >= kMaxWaiting) return done(slot.list);
  slot.waiting.push_back(std::move(done));
  if (slot.waiting.size() > 1) return;
  slot.is_outdated = false;
  const auto reading = std::make_shared<Reading>(Reading{.key = key});
  reading->until = clock_.steady_now() + kReadingTime;
  read_page(reading, Json::object());
}

void ServerLists::read_page(const std::shared_ptr<Reading>& reading, Json params) {
  const auto& [server, kind] = reading->key;
  servers_.request(
      server, std::string(method_of(kind)), std::move(params), nullptr,
      [this, alive = std::weak_ptr(alive_), reading](Result<gate::Servers::Outcome> outcome) {
        if (alive.expired()) return;
        if (outcome && *outcome) return add_page(reading, **outcome);
        // One that has resources and no templates may not know the method.
        const bool none = outcome && (*outcome).error().code == ipc::kMethodNotFound;
        finish(reading,
               none ? std::make_shared<const KnownList>(reading->key.second, std::vector<Json>())
                    : nullptr);
      });
}

void ServerLists::add_page(const std::shared_ptr<Reading>& reading, const Json& result) {
  const auto& [server, kind] = reading->key;
  const Json* page = find_member(result, member_of(kind));
  if (page == nullptr || !page->is_array()) return finish(reading, nullptr);
  for (const Json& entry : *page) {
    const std::string key = string_member(entry, key_of(kind));
    if (key.empty() || key.size() > kMaxKey || !reading->keys.insert(key).second) continue;
    reading->bytes += to_text(entry).size();
    reading->entries.push_back(entry);
  }
  if (const Json* ttl = find_member(result, "ttlMs"); ttl != nullptr && ttl->is_number_unsigned())
    reading->fresh = std::chrono::milliseconds(
        std::min<std::uint64_t>(ttl->get<std::uint64_t>(), std::uint64_t{1} << 30U));
  const std::string cursor = string_member(result, "nextCursor");
  const bool is_too_much = ++reading->pages >= kMaxPages || reading->bytes > kMaxBytes ||
                           reading->entries.size() > most_of(kind);
  // A page may hold as much as a message: one that is the last is held to the bounds as well.
  if (is_too_much) return finish(reading, nullptr);
  if (cursor.empty())
    return finish(reading, std::make_shared<const KnownList>(kind, std::move(reading->entries)));
  if (clock_.steady_now() >= reading->until || !reading->cursors.insert(cursor).second)
    return finish(reading, nullptr);
  read_page(reading, {{"cursor", cursor}});
}

void ServerLists::finish(const std::shared_ptr<Reading>& reading, ServerList list) {
  const auto& [server, kind] = reading->key;
  Slot& slot = slots_[reading->key];
  const auto usual = announces(servers_.capabilities(server), kind)
                         ? std::chrono::milliseconds(kFreshAnnounced)
                         : std::chrono::milliseconds(kFreshSilent);
  const auto fresh = std::min<std::chrono::milliseconds>(
      reading->fresh.count() > 0 ? reading->fresh : usual, kFreshMost);
  // A server that cannot be asked now has what it had: so nobody takes its place meanwhile.
  if (list && (!slot.list || *slot.list != *list)) slot.list = std::move(list);
  slot.fresh_until = slot.is_outdated ? clock_.steady_now() : clock_.steady_now() + fresh;
  const ServerList known = slot.list;
  for (const Done& done : std::exchange(slot.waiting, {})) done(known);
}

void ServerLists::forget(const std::string& server, ListKind kind) {
  const auto found = slots_.find({server, kind});
  if (found == slots_.end()) return;
  found->second.fresh_until = {};
  found->second.is_outdated = true;
}

}  // namespace mcpac::gateway
