// SPDX-License-Identifier: Apache-2.0

// What benchmarks of the gate and of the doors before it share: a tool, a policy for it, and an
// upstream in this process, so that what is measured is ours.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "core/error.h"
#include "core/json_schema.h"
#include "gate/upstream.h"
#include "policy/authority.h"

namespace mcpac::bench {

[[noreturn]] inline void die(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

template <class T>
T need(Result<T> result) {
  if (!result) die(result.error().to_text());
  return std::move(*result);
}

inline double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// User and system, of this process alone.
inline double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage);
}

// Of the rounds of a row.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

inline Spread spread(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 2], values.front(), values.back()};
}

// Answers every call a turn of the loop later with a copy of one result.
class InProcessUpstream final : public gate::Upstream {
 public:
  InProcessUpstream(boost::asio::io_context& loop, std::size_t result_bytes) : loop_(loop) {
    result_ = {
        {"content", Json::array({{{"type", "text"}, {"text", std::string(result_bytes, 'r')}}})}};
  }
  CallToken forward(const Permission&, Json, std::shared_ptr<gate::Caller>,
                    std::function<void(Result<Json>)> done) override {
    boost::asio::post(loop_, [this, done = std::move(done)] { done(Json(result_)); });
    return ++last_;
  }
  [[nodiscard]] bool quarantines(const Permission&) const override { return false; }
  void cancel(CallToken) override {}

 private:
  boost::asio::io_context& loop_;
  Json result_;
  CallToken last_ = 0;
};

// The tool of all rows, with a schema as real ones have, and what is granted of it: one narrowed
// grant, one deny over all arguments.
inline Permission measured_tool() {
  return need(Permission::parse("fs.read_text_file"));
}

inline Json measured_schema() {
  return {{"type", "object"},
          {"properties",
           {{"path", {{"type", "string"}, {"minLength", 1}}},
            {"head", {{"type", "integer"}, {"minimum", 1}}},
            {"tail", {{"type", "integer"}, {"minimum", 1}}}}},
          {"required", {"path"}},
          {"additionalProperties", false}};
}

// `schemas` and `clock` are borrowed for its life.
inline policy::Authority measured_authority(const policy::ToolSchemas& schemas, const Clock& clock,
                                            std::string_view clause = "") {
  policy::Environment environment;
  environment.tools = &schemas;
  environment.clock = &clock;
  environment.bases.current_directory = "/srv";
  environment.bases.home = "/home/somebody";
  const policy::LayerText layer{
      .name = "the command line",
      .grants = {fmt::format("fs.read_text_file(path within /srv/data, ?head 1..1000){}", clause)},
      .asks = {},
      .denies = {"fs.*(* within ~/.ssh)"},
      .files = {}};
  return need(policy::Authority::load({layer}, environment));
}

}  // namespace mcpac::bench
