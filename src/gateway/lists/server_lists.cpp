// SPDX-License-Identifier: Apache-2.0

#include "gateway/lists/server_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/printable.h"
#include "gateway/lists/uri_bound.h"
#include "ipc/json_rpc.h"

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

KnownList::KnownList(ListKind kind, std::vector<Json> entries) : entries_(std::move(entries)) {
  keys_.reserve(entries_.size());
  for (const Json& entry : entries_) {
    const Json* key = find_member(entry, key_of(kind));
    if (key != nullptr && key->is_string()) keys_.push_back(key->get_ref<const std::string&>());
  }
  for (const std::string_view key : keys_) weight_ += key.size() + 1;
  if (kind == ListKind::kTemplates) {
    patterns_.reserve(keys_.size());
    for (const std::string_view text : keys_) patterns_.emplace_back(text);
  }
  std::ranges::sort(keys_);
}

// A step for each key that it is held against, whatever their length: a comparison is quick.
bool KnownList::has(std::string_view key, Work& work) const {
  return std::ranges::binary_search(keys_, key, [&](std::string_view one, std::string_view other) {
    work.spend(1);
    return one < other;
  });
}

Meaning KnownList::may_mean(std::string_view uri, Work& work) const {
  for (const UriPattern& pattern : patterns_) {
    if (const auto meaning = pattern.may_mean(uri, work); meaning != Meaning::kNo) return meaning;
  }
  return Meaning::kNo;
}

namespace {

// The waiters for a list that is being read.
constexpr std::size_t kMaxWaiting = 1'024;
// Without a word of its own. A server that announces changes is asked again when it does.
constexpr auto kFreshAnnounced = std::chrono::seconds(60);
constexpr auto kFreshSilent = std::chrono::seconds(5);
constexpr auto kFreshMost = std::chrono::minutes(5);
// Cost of a byte of a list until the list is known: it is parsed, looked through for secrets,
// copied, written out for its length and held against the list before.
constexpr auto kCostOfByte = std::chrono::nanoseconds(30);
// Of a server's words, in a line for people.
constexpr std::size_t kMaxSaid = 200;

bool has(const Json* capabilities, std::string_view name) {
  const Json* one = capabilities == nullptr ? nullptr : find_member(*capabilities, name);
  return one != nullptr && one->is_object();
}

bool announces(const Json* capabilities, ListKind kind) {
  if (!has(capabilities, capability_of(kind))) return false;
  const Json* changes =
      find_member(*find_member(*capabilities, capability_of(kind)), "listChanged");
  return changes != nullptr && changes->is_boolean() && changes->get<bool>();
}

}  // namespace

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
  Slot& slot = slots_.try_emplace(key, spans_).first->second;
  const auto now = clock_.steady_now();
  // One that is down has what it had; what one that never came up has is unknown.
  if (servers_.is_settled(server) && capabilities == nullptr) {
    slot.is_missed = true;
    return done(slot.list);
  }
  if (servers_.is_settled(server) && !has(capabilities, capability_of(kind)))
    return done(std::make_shared<const KnownList>(kind, std::vector<Json>()));
  if (slot.list && now < slot.fresh_until) return done(slot.list);
  const bool is_asked = slot.reading != nullptr;
  const bool may_wait = is_asked ? !slot.is_late && !slot.is_unseen : slot.patience.may_wait(now);
  if (!may_wait || slot.waiting.size() >= kMaxWaiting) return show_known(key, slot, done);
  slot.waiting.push_back(std::move(done));
  if (!is_asked) read_at(key, slot, slot.patience.next_waited_for());
}

void ServerLists::worked(const std::string& server, ListKind kind, std::chrono::nanoseconds time) {
  const auto found = slots_.find({server, kind});
  if (found != slots_.end()) found->second.patience.worked(time);
}

// A pause holds where there is a list to show, and the server does not say that it is another now.
void ServerLists::show_known(const Key& key, Slot& slot, const Done& done) {
  slot.is_missed = true;
  const bool is_wanting = !slot.list || slot.is_outdated || slot.patience.is_trusted();
  if (!slot.reading && is_wanting) read_at(key, slot, slot.patience.next_with_reason());
  done(slot.list);
}

// Not one that is down, or is known to have no such list.
bool ServerLists::may_be_asked(const Key& key) const {
  const auto& [server, kind] = key;
  return !servers_.is_settled(server) || has(servers_.capabilities(server), capability_of(kind));
}

void ServerLists::read_at(const Key& key, Slot& slot, std::chrono::steady_clock::time_point when) {
  const auto now = clock_.steady_now();
  if (when <= now) return read_now(key);
  if (slot.again && slot.again_at <= when) return;
  slot.again_at = when;
  slot.again = std::make_unique<boost::asio::steady_timer>(executor_, when - now);
  slot.again->async_wait([this, alive = std::weak_ptr(alive_), key, when](const auto& error) {
    if (error || alive.expired() || slots_.at(key).again_at != when) return;
    read_now(key);
  });
}

void ServerLists::read_now(const Key& key) {
  Slot& slot = slots_.at(key);
  slot.again.reset();
  if (slot.reading) return;
  if (may_be_asked(key)) return begin_reading(key, slot);
  // By now it is down, or has no such list: a waiter has what it had.
  slot.is_missed = slot.is_missed || !slot.waiting.empty();
  tell(slot);
}

void ServerLists::begin_reading(const Key& key, Slot& slot) {
  const auto now = clock_.steady_now();
  slot.again.reset();
  slot.is_outdated = false;
  slot.is_late = false;
  slot.is_unseen = !slot.patience.may_wait(now);
  slot.begun = now;
  slot.reading = std::make_shared<ListReading>(key.second);
  const auto has = slot.list ? ListPatience::Has::kList : ListPatience::Has::kNothing;
  const auto whole = servers_.timeout(key.first);
  const auto span = slot.patience.span(has);
  slot.left = whole - span;
  if (slot.left.count() > 0)
    after(key, slot, span, &ServerLists::stop_waiting);
  else
    after(key, slot, whole, &ServerLists::give_up);
  read_page(key, slot.reading, Json::object());
}

void ServerLists::after(const Key& key, Slot& slot, std::chrono::milliseconds time,
                        void (ServerLists::*then)(const Key&)) {
  slot.timer = std::make_unique<boost::asio::steady_timer>(executor_, time);
  slot.timer->async_wait([this, alive = std::weak_ptr(alive_), key, then,
                          weak = std::weak_ptr(slot.reading)](const auto& error) {
    if (error || alive.expired()) return;
    const auto reading = weak.lock();
    if (reading && slots_.at(key).reading == reading) (this->*then)(key);
  });
}

void ServerLists::read_page(const Key& key, const std::shared_ptr<ListReading>& reading,
                            Json params) {
  const auto& [server, kind] = key;
  slots_.at(key).token = servers_.request(
      server, std::string(method_of(kind)), std::move(params), nullptr,
      [this, alive = std::weak_ptr(alive_), key, reading](Result<gate::Servers::Outcome> outcome) {
        if (alive.expired() || slots_.at(key).reading != reading) return;
        if (outcome && *outcome) return add_page(key, reading, **outcome);
        if (!outcome) {
          say_missing(key, slots_.at(key), outcome.error().what);
          return finish(key, Ended::kGaveNoList, nullptr);
        }
        // One that has resources and no templates may not know the method. Any other error says
        // nothing about what it has, so it is not taken for one that has nothing: whatever it may
        // have would be another's meanwhile.
        const ipc::ErrorObject& error = (*outcome).error();
        if (error.code == ipc::kMethodNotFound)
          return finish(key, Ended::kAnswered,
                        std::make_shared<const KnownList>(key.second, std::vector<Json>()));
        say_missing(key, slots_.at(key),
                    fmt::format("it answers with an error ({}): {}", error.code,
                                printable(error.message, kMaxSaid)));
        finish(key, Ended::kGaveNoList, nullptr);
      });
}

void ServerLists::add_page(const Key& key, const std::shared_ptr<ListReading>& reading,
                           const Json& result) {
  const auto next = reading->add(result);
  if (next && *next) return read_page(key, reading, {{"cursor", **next}});
  if (next)
    return finish(key, Ended::kAnswered,
                  std::make_shared<const KnownList>(key.second, reading->take_entries()));
  say_missing(key, slots_.at(key), next.error());
  finish(key, Ended::kGaveNoList, nullptr);
}

// It is read on: a later request finds it, and clients that had to go without it are told.
void ServerLists::stop_waiting(const Key& key) {
  Slot& slot = slots_.at(key);
  slot.is_late = true;
  slot.is_missed = slot.is_missed || !slot.waiting.empty();
  after(key, slot, slot.left, &ServerLists::give_up);
  say_missing(key, slot, "it does not answer in time");
  tell(slot);
}

void ServerLists::give_up(const Key& key) {
  Slot& slot = slots_.at(key);
  servers_.forget(slot.token);
  say_missing(key, slot, "reading it takes longer than the server's timeout");
  finish(key, Ended::kGaveNoList, nullptr);
}

void ServerLists::say_missing(const Key& key, Slot& slot, std::string_view why) const {
  if (!slot.patience.lose() || !warning_) return;
  const bool is_claimed = !slot.list && key.second != ListKind::kPrompts;
  warning_(fmt::format("the server {} gives no {}: {}; {}, and it is asked again later",
                       gate::server_of(key.first), method_of(key.second), why,
                       is_claimed ? "clients get nothing that may be of it and of another server"
                                  : "clients see what it had before"));
}

void ServerLists::finish(const Key& key, Ended ended, ServerList list) {
  const auto& [server, kind] = key;
  Slot& slot = slots_.at(key);
  const auto reading = std::exchange(slot.reading, nullptr);
  slot.timer.reset();
  const auto now = clock_.steady_now();
  if (ended == Ended::kAnswered && !slot.is_late)
    slot.patience.answered_in_time(now, now - slot.begun);
  else
    slot.patience.failed(now);
  slot.patience.worked(kCostOfByte * static_cast<std::int64_t>(reading->bytes()));
  const auto usual = announces(servers_.capabilities(server), kind)
                         ? std::chrono::milliseconds(kFreshAnnounced)
                         : std::chrono::milliseconds(kFreshSilent);
  const auto fresh = std::min<std::chrono::milliseconds>(
      reading->fresh().count() > 0 ? reading->fresh() : usual, kFreshMost);
  slot.fresh_until = slot.is_outdated || ended == Ended::kGaveNoList ? now : now + fresh;
  // A server that cannot be asked now has what it had: so no other takes its place meanwhile.
  const bool is_news = list && (!slot.list || *slot.list != *list);
  const bool is_missed = list ? std::exchange(slot.is_missed, false) : true;
  if (!list) slot.is_missed = true;
  if (is_news) slot.list = std::move(list);
  tell(slot);
  if (ended == Ended::kGaveNoList || slot.is_outdated) read_again(key, slot);
  if (is_news && is_missed && late_) late_(server, kind);
}

// No client may come and ask, since none knows that there is more than was shown. Of a change that
// came meanwhile clients were told, and where they would wait it is for them to ask.
void ServerLists::read_again(const Key& key, Slot& slot) {
  if (slot.reading) return;
  if (!slot.is_outdated) return read_at(key, slot, slot.patience.next_without());
  if (!slot.patience.may_wait(clock_.steady_now()))
    read_at(key, slot, slot.patience.next_with_reason());
}

void ServerLists::tell(Slot& slot) {
  const ServerList known = slot.list;
  for (const Done& done : std::exchange(slot.waiting, {})) done(known);
}

// Clients are told as well, and ask; where none would wait, it is read without them.
void ServerLists::forget(const std::string& server, ListKind kind) {
  const auto found = slots_.find({server, kind});
  if (found == slots_.end()) return;
  Slot& slot = found->second;
  slot.fresh_until = {};
  slot.is_outdated = true;
  if (!slot.reading && (slot.is_missed || !slot.patience.may_wait(clock_.steady_now())))
    read_at(found->first, slot, slot.patience.next_with_reason());
}

void ServerLists::doubt(const std::string& server) {
  for (const ListKind kind : {ListKind::kResources, ListKind::kTemplates, ListKind::kPrompts}) {
    const auto found = slots_.find({server, kind});
    if (found == slots_.end()) continue;
    found->second.is_missed = true;
    forget(server, kind);
  }
}

void ServerLists::began_anew(const std::string& server) {
  for (const ListKind kind : {ListKind::kResources, ListKind::kTemplates, ListKind::kPrompts}) {
    const auto found = slots_.find({server, kind});
    if (found != slots_.end()) found->second.patience.began_anew();
    forget(server, kind);
  }
}

}  // namespace mcpac::gateway
