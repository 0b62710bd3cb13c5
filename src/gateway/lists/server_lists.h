// SPDX-License-Identifier: Apache-2.0

// ServerLists: cache of the servers' lists besides tools, kept while they are fresh.
//
// One for a gateway: nothing of a client is in it, and who may see which entry is decided later
// (offer_view.h). Everything that a server can make long is bounded (ListReading), and so is how
// long clients wait for it (ListPatience): a server that is not in time has what it had, and its
// list is read on, all pages within the server's `timeout`. Where none is known, or the server says
// that it changed, it is also read in the background; what then comes is told to the clients that
// were shown less. A list that did not change is the one that there was: what was worked out from
// it holds on. On the loop's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/algorithm/searching/knuth_morris_pratt.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/work.h"
#include "gate/servers.h"
#include "gateway/lists/list_kind.h"

namespace mcpac::gateway {

// ListReading: one list of a server as its pages come, held to what a list may be.
//
// A server decides how many pages there are, how long they are and what a cursor is; a list that is
// beyond these bounds is none. Half of one would be worse: whose a URI is follows from lists.
// Entries are kept as they are; one without a usable name or URI is left out.
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

// ListPatience: time limit of clients for one list of one server, and the times of its background
// reads.
//
// The first time that is long: servers are slow when they begin. A server that was not in time, or
// gave no list, is followed by a pause in which no client waits, longer each time; afterwards it is
// waited for shortly, until it answers in time. One that is slow makes no client wait for more than
// a tenth of the time, however often it says that its list changed. What is read in the background
// is read with a rest between, whatever the server announces. And what a list costs mcpac's loop,
// to read it and to work out what each client is shown of it, is followed by nine times as long a
// rest, also where a client waits: it does so shortly, and for longer it has what there was. A pure
// value.
class ListPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;
  struct Spans {
    std::chrono::milliseconds first = std::chrono::seconds(30);
    std::chrono::milliseconds later = std::chrono::seconds(5);
    std::chrono::milliseconds pause = std::chrono::seconds(30);  // the first; then twice as long
    std::chrono::milliseconds longest_pause = std::chrono::minutes(10);
    // Between two readings in the background.
    std::chrono::milliseconds rest = std::chrono::seconds(5);
  };
  enum class Has : std::uint8_t { kNothing, kList };  // to show meanwhile

  explicit ListPatience(const Spans& spans)
      : spans_(spans), backoff_(spans.pause, spans.longest_pause) {}

  [[nodiscard]] bool may_wait(Time now) const { return now >= pause_until_; }
  [[nodiscard]] std::chrono::milliseconds span(Has has) const {
    return is_trusted_ && has == Has::kNothing ? spans_.first : spans_.later;
  }
  // It ended well the last time, or is new.
  [[nodiscard]] bool is_trusted() const { return is_trusted_; }
  // From when on it may be read for waiting clients.
  [[nodiscard]] Time next_waited_for() const { return spare_until_; }
  // From when on it may be read in the background: as soon as there is a reason; without one.
  [[nodiscard]] Time next_with_reason() const { return rest_until_; }
  [[nodiscard]] Time next_without() const { return std::max(rest_until_, pause_until_); }

  // Whether that is news.
  [[nodiscard]] bool lose() { return std::exchange(is_trusted_, false); }
  // The request has ended without a list, or late.
  void failed(Time now) {
    is_trusted_ = false;
    ended_ = now;
    worked_ = {};
    rest_until_ = now + spans_.rest;
    pause_until_ = now + backoff_.next();
  }
  void answered_in_time(Time now, Span took) {
    *this = ListPatience(spans_);
    ended_ = now;
    rest_until_ = now + spans_.rest;
    if (took > kSlow) pause_until_ = now + kRestFor * took;
  }
  // So much of the loop's time went into what was read last, once more.
  void worked(Span span) {
    worked_ += span;
    const Span rest = std::min<Span>(kRestFor * worked_, spans_.longest_pause);
    if (rest < kNothing) return;
    spare_until_ = ended_ + rest;
    rest_until_ = std::max(rest_until_, spare_until_);
    if (rest > kSlow) pause_until_ = std::max(pause_until_, spare_until_);
  }
  // The server was started again: it may be another, though it is not waited for as if it were new.
  // A rest for what the last one cost stays: else who asks would wait for its end.
  void began_anew() { pause_until_ = kRestFor * worked_ > kSlow ? spare_until_ : Time{}; }

 private:
  static constexpr std::chrono::seconds kSlow{1};
  static constexpr int kRestFor = 9;
  // What no timer is set for.
  static constexpr std::chrono::milliseconds kNothing{10};

  Spans spans_;
  ExponentialBackoff backoff_;
  Time pause_until_{};
  Time rest_until_{};
  Time spare_until_{};  // the loop
  Time ended_{};        // of the last reading
  Span worked_{};       // since, and by it
  bool is_trusted_ = true;
};

// KnownList: one list of a server as it was read, with what makes it quick to look something up.
//
// Made once, when the list comes, and asked for every client. The keys are sorted and not hashed: a
// server chooses them, and could choose such that have the same hash. Never changes.

// UriPattern: a template (RFC 6570), made ready to be held against many URIs.
//
// Generous: an expression may stand for any text, and so does what is beyond the first 1,024 bytes
// and eight texts between expressions: a server with a template of that size claims more by it, not
// less. One URI takes time in proportion to its length, however both were chosen (Knuth, Morris,
// Pratt). Borrows the template's text.
enum class Meaning : std::uint8_t { kNo, kMay, kCannotTell };

class UriPattern {
 public:
  explicit UriPattern(std::string_view uri_template);
  // kCannotTell: the work does not suffice.
  [[nodiscard]] Meaning may_mean(std::string_view uri, Work& work) const;

 private:
  using Search = boost::algorithm::knuth_morris_pratt<const char*>;
  struct Between {
    std::size_t length;
    Search search;
  };
  void add_between(std::string_view literal);

  std::string_view begin_;
  std::vector<Between> between_;
  std::string_view end_;
  bool has_expression_ = false;
};

class KnownList {
 public:
  KnownList(ListKind kind, std::vector<Json> entries);
  KnownList(const KnownList&) = delete;
  KnownList& operator=(const KnownList&) = delete;

  // What there is to work out about it, beside other lists.
  [[nodiscard]] std::size_t weight() const { return weight_; }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  [[nodiscard]] bool has(std::string_view key, Work& work) const;
  // Whether one of these templates may mean it; of other lists: none does.
  [[nodiscard]] Meaning may_mean(std::string_view uri, Work& work) const;

  friend bool operator==(const KnownList& one, const KnownList& other) {
    return one.entries_ == other.entries_;
  }

 private:
  std::vector<Json> entries_;
  std::vector<std::string_view> keys_;  // of entries, sorted
  std::vector<UriPattern> patterns_;    // likewise
  std::size_t weight_ = 0;
};

// Null: it is not known what the server has.
using ServerList = std::shared_ptr<const KnownList>;
using ListsByServer = std::map<std::string, ServerList>;

class ServerLists {
 public:
  // Hears, once, of a server that does not answer, and why a list of one is not read.
  using Warning = std::function<void(const std::string&)>;
  // `servers` and `clock` are borrowed.
  ServerLists(gate::Servers& servers, boost::asio::any_io_executor executor, const Clock& clock,
              Warning warning = nullptr, const ListPatience::Spans& spans = {})
      : servers_(servers),
        executor_(std::move(executor)),
        clock_(clock),
        warning_(std::move(warning)),
        spans_(spans) {}

  // The lists of these servers, asked for where they are not fresh. `done` may come at once.
  void get(ListKind kind, const std::set<std::string>& servers,
           std::function<void(const ListsByServer&)> done);
  // Hears of a list that is another one than clients were shown: they would not know.
  using OnLate = std::function<void(const std::string& server, ListKind kind)>;
  void on_late(OnLate heard) { late_ = std::move(heard); }
  // So long a client's view of it was worked out, on the loop.
  void worked(const std::string& server, ListKind kind, std::chrono::nanoseconds time);
  // The server announces a change: what is kept is stale.
  void forget(const std::string& server, ListKind kind);
  // It may have changed unheard: read when it is time, and told where it did.
  void doubt(const std::string& server);
  // The server was started again.
  void began_anew(const std::string& server);

 private:
  using Done = std::function<void(const ServerList&)>;
  struct Slot {
    explicit Slot(const ListPatience::Spans& spans) : patience(spans) {}
    ServerList list;
    std::chrono::steady_clock::time_point fresh_until;
    std::shared_ptr<ListReading> reading;              // the server is being asked
    std::vector<Done> waiting;                         // for that
    gate::Servers::RequestToken token = 0;             // of its page that is asked for
    std::unique_ptr<boost::asio::steady_timer> timer;  // of this reading
    std::chrono::milliseconds left{0};                 // for it when that has expired
    std::chrono::steady_clock::time_point begun;
    bool is_unseen = false;    // no client may wait for this reading
    bool is_late = false;      // no client waits for it any more
    bool is_outdated = false;  // it changed since it was last asked for
    bool is_missed = false;    // a client was shown a stale list, for want of a fresh one
    ListPatience patience;
    std::unique_ptr<boost::asio::steady_timer> again;  // when it is read in the background
    std::chrono::steady_clock::time_point again_at{};  // of that
  };
  using Key = std::pair<std::string, ListKind>;
  enum class Ended : std::uint8_t { kAnswered, kGaveNoList };

  void get_one(const Key& key, Done done);
  [[nodiscard]] bool may_be_asked(const Key& key) const;
  // A client gets the known list, which may be stale.
  void show_known(const Key& key, Slot& slot, const Done& done);
  void begin_reading(const Key& key, Slot& slot);
  // It is read at that time, with or without a waiter.
  void read_at(const Key& key, Slot& slot, std::chrono::steady_clock::time_point when);
  void read_now(const Key& key);
  // Unless this reading has ended by then.
  void after(const Key& key, Slot& slot, std::chrono::milliseconds time,
             void (ServerLists::*then)(const Key&));
  void read_page(const Key& key, const std::shared_ptr<ListReading>& reading, Json params);
  void add_page(const Key& key, const std::shared_ptr<ListReading>& reading, const Json& result);
  void stop_waiting(const Key& key);
  void give_up(const Key& key);
  void finish(const Key& key, Ended ended, ServerList list);
  void read_again(const Key& key, Slot& slot);
  void say_missing(const Key& key, Slot& slot, std::string_view why) const;
  static void tell(Slot& slot);

  gate::Servers& servers_;
  boost::asio::any_io_executor executor_;
  const Clock& clock_;
  Warning warning_;  // may be null
  OnLate late_;      // may be null
  ListPatience::Spans spans_;
  std::map<Key, Slot> slots_;
  // Answers may come when this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
