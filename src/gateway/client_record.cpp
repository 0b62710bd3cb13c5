// SPDX-License-Identifier: Apache-2.0

#include "gateway/client_record.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/ids.h"

namespace mcpac::gateway {
namespace {

constexpr const char* kBegins = "RunStarted";
constexpr const char* kEnds = "RunEnded";
constexpr const char* kRevoked = "Revoked";
// Between two tries to begin another file: each call would ask the disk.
constexpr std::chrono::seconds kRest{1};

}  // namespace

ClientRecord::ClientRecord(Setup setup, std::unique_ptr<audit::RunLog> first)
    : setup_(std::move(setup)),
      log_(std::move(first)),
      argument_key_(log_->argument_key()),
      files_{log_->run_id()} {}

Result<std::unique_ptr<ClientRecord>> ClientRecord::create(Setup setup) {
  auto first = audit::RunLog::create(setup.folder, new_uuid_v7(*setup.clock), *setup.clock, {},
                                     setup.most_bytes);
  if (!first) return pass_on(first);
  return std::unique_ptr<ClientRecord>(new ClientRecord(std::move(setup), std::move(*first)));
}

Result<std::string> ClientRecord::append(std::string_view kind, Json payload) {
  if (kind == kBegins) started_ = payload;
  if (kind == kRevoked) revoked_.insert(string_member(payload, "permission"));
  if (kind != kEnds) make_room();
  return log_->append(kind, std::move(payload));
}

Result<std::string> ClientRecord::append_text(std::string_view kind, std::string payload) {
  make_room();
  return log_->append_text(kind, std::move(payload));
}

std::string ClientRecord::keyed_digest(std::string_view bytes) const {
  return audit::hex(audit::blake2b(bytes, &argument_key_));
}

Result<void> ClientRecord::close() {
  is_over_ = true;
  return log_->close();
}

void ClientRecord::make_room() {
  if (is_over_ || !log_->is_almost_full() || started_.is_null()) return;
  const auto now = setup_.clock->steady_now();
  if (now < again_at_) return;
  auto gone_on = go_on();
  is_over_ = !gone_on && files_.size() >= setup_.most_files;
  if (gone_on || is_over_) is_warned_ = false;
  if (gone_on) return;
  again_at_ = now + kRest;
  if (std::exchange(is_warned_, true)) return;
  say(fmt::format("the record of {} {}: {}; soon its calls are refused, until {}", setup_.client,
                  is_over_ ? "ends" : "cannot go on in another file now", gone_on.error().to_text(),
                  is_over_ ? "rules are renewed or mcpac serve is started again"
                           : "that is possible, which is tried again with its calls"));
}

Result<void> ClientRecord::go_on() {
  auto next = next_file();
  if (!next) return pass_on(next);
  Json started = started_;
  started["continues"] = files_;
  if (!revoked_.empty()) started["revoked"] = revoked_;
  if (auto begun = (*next)->append(kBegins, std::move(started)); !begun) return pass_on(begun);
  const std::string id = (*next)->run_id();
  auto former = std::exchange(log_, std::move(*next));
  // Whether that is in the file or not, the next one names it.
  std::ignore = former->append(kEnds, {{"verdict", "record-full"}, {"continued_in", id}});
  closing_ = std::jthread([former = std::move(former)] { std::ignore = former->close(); });
  files_.push_back(id);
  say(fmt::format("the record of {} goes on in another file: {}", setup_.client, id));
  return {};
}

Result<std::unique_ptr<audit::RunLog>> ClientRecord::next_file() const {
  if (files_.size() >= setup_.most_files) {
    return fail(ErrorId::kAuditUnwritable,
                fmt::format("it has {} files, as many as one client's may", files_.size()),
                {.where = setup_.folder.string()});
  }
  std::error_code error;
  const auto space = std::filesystem::space(setup_.folder, error);
  if (error || space.available < setup_.least_free + setup_.most_bytes) {
    return fail(ErrorId::kAuditUnwritable, "there is no room for another file",
                {.where = setup_.folder.string(), .fix = "make room on this disk"});
  }
  return audit::RunLog::create(setup_.folder, new_uuid_v7(*setup_.clock), *setup_.clock, {},
                               setup_.most_bytes);
}

void ClientRecord::say(const std::string& text) const {
  if (setup_.said) setup_.said(text);
}

}  // namespace mcpac::gateway
