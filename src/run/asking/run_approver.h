// SPDX-License-Identifier: Apache-2.0

// RunApprover: approver of a run, before it and while it goes on (docs/asking.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "core/error.h"
#include "gate/approver.h"
#include "servers/host.h"

namespace mcpac::run {

// The one screen before a run: all that the program declares, and what the rules make of it.
struct ProgramReview {
  struct Item {
    std::string text;      // "server.tool where …"
    std::string standing;  // "allowed", "asks", "depends", "denied"
    std::string reason;    // why it is not simply allowed
    bool is_new = false;   // not declared when this program was last approved
  };
  std::string id;       // SHA-256 of the rest
  std::string program;  // as messages call it
  gate::Binding binding;
  std::vector<Item> declared;
  std::vector<std::string> rules;    // of all layers, that ask or have a limit
  std::vector<std::string> removed;  // declared at the last approval, and no more
  std::string last_approved;         // when a program of this name was; empty: never
  bool is_same = false;              // that one, byte for byte
};
[[nodiscard]] Json to_json(const ProgramReview& review);

class RunApprover : public gate::Approver {
 public:
  // Like ask(): answered with kOnce (run it) or anything else (do not).
  virtual void review(const ProgramReview& review, Done done) = 0;
};
// Called on the thread of the run; null where no approver is available.
using MakeApprover =
    std::function<std::unique_ptr<RunApprover>(const boost::asio::any_io_executor&)>;

// An approver that is taken down where it lives.
class LiveApprover {
 public:
  LiveApprover(servers::Host& host, const MakeApprover& make)
      : host_(host), approver_(make ? make(host.executor()) : nullptr) {}
  ~LiveApprover() {
    if (approver_) host_.on_loop([this] { approver_.reset(); });
  }
  LiveApprover(const LiveApprover&) = delete;
  LiveApprover& operator=(const LiveApprover&) = delete;
  [[nodiscard]] RunApprover* get() const { return approver_.get(); }

 private:
  servers::Host& host_;
  std::unique_ptr<RunApprover> approver_;
};

}  // namespace mcpac::run
