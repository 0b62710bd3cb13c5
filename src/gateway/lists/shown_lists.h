// SPDX-License-Identifier: Apache-2.0

// ShownLists: the part of the servers' lists visible to one client, worked out once for all its
// pages.
//
// Each entry is held against the client's rules, which takes long for long lists; so what came out
// is kept for as long as the servers' lists are the same, and the same servers may be asked. The
// entries are the lists' own. How long it took is told to the reader of the lists: a server that
// changes its lists without pause makes all clients' be worked out anew. One for a client's gate;
// on the loop.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/offer.h"
#include "gateway/lists/offer_view.h"

namespace mcpac::gateway {

class ShownLists {
 public:
  // Of a server's list, so long; where several were new, each has its part.
  using Worked =
      std::function<void(const std::string& server, ListKind kind, std::chrono::nanoseconds time)>;
  // `gate` is borrowed; `worked` may be null.
  explicit ShownLists(const gate::Gate& gate, Worked worked = nullptr)
      : gate_(gate), worked_(std::move(worked)) {}

  [[nodiscard]] std::shared_ptr<const ShownEntries> resources(const std::set<std::string>& servers,
                                                              const ResourceLists& lists);
  [[nodiscard]] std::shared_ptr<const ShownTemplates> templates(const ListsByServer& lists);
  // `servers`: as shown_prompts() wants them; these and the form are the same for all of a client's
  // life.
  [[nodiscard]] std::shared_ptr<const ShownPrompts> prompts(const ListsByServer& lists,
                                                            NameForm form,
                                                            const std::set<std::string>& servers);
  // From time to time: what was not asked for since the last time is dropped.
  void sweep();

 private:
  // What something was made from. Lists that are held here are at their addresses: no other has
  // one.
  struct Origin {
    ListsByServer lists;
    ListsByServer templates;        // beside resources
    std::set<std::string> servers;  // that may be asked for such
    friend bool operator==(const Origin&, const Origin&) = default;
  };
  template <class Shown>
  struct Kept {
    Origin origin;
    std::shared_ptr<const Shown> shown;
    bool is_used = false;
  };
  template <class Shown, class Make>
  std::shared_ptr<const Shown> kept_or_made(Kept<Shown>& kept, Origin origin, ListKind kind,
                                            Make make);
  // Of what was made from `now`, where there was `before`.
  void tell(const Origin& before, const Origin& now, ListKind kind,
            std::chrono::nanoseconds time) const;
  template <class Shown>
  static void drop_unused(Kept<Shown>& kept);
  // Of these the ones whose offers were neither taken back nor changed.
  [[nodiscard]] std::set<std::string> standing(const std::set<std::string>& servers,
                                               Offer offer) const;

  const gate::Gate& gate_;
  Worked worked_;
  Kept<ShownEntries> resources_;
  Kept<ShownTemplates> templates_;
  Kept<ShownPrompts> prompts_;
};

}  // namespace mcpac::gateway
