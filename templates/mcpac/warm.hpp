// Warm: what the precompiled runtime of agents is made from. Includes what agents use and
// instantiates it here once (-fpch-instantiate-templates, -fpch-codegen), so that a short agent
// compiles in a fraction of a second. It knows no server: their headers are a second, small
// precompiled header on top of this one. Nothing in it changes what a program means. Needs C++23
// and its library.
//
// What agents write stands in warm_uses.hpp, without the namespace around it: a tool that waits for
// a program reads it once more (docs/adr/0042).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <expected>
#include <format>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <print>
#include <queue>
#include <ranges>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "runtime.hpp"

namespace mcpac::detail::warm {

// A made-up tool: the parts of fields, JSON and calls that hang on no tool, or on common types.
struct server_tag {
  static constexpr ::std::string_view name = "warm";
  template <class F>
  struct Member {
    F warm;
  };
};
struct tool {
  using server = server_tag;
  static constexpr ::std::string_view name = "tool";
  static constexpr ::std::string_view permission = "warm.tool";
  struct Args {
    Required<std::string> text;
    Required<std::vector<std::string>> texts;
    Required<std::int64_t> integer;
    Required<double> real;
    Required<bool> boolean;
    Optional<std::string> more_text{};
    Optional<std::vector<std::string>> more_texts{};
    Optional<std::int64_t> more_integer{};
    Optional<double> more_real{};
    Optional<bool> more_boolean{};
    Optional<Json> json{};
    static void mcpac_visit(auto& mcpac_s, auto& mcpac_v) {
      mcpac_v("text", mcpac_s.text);
      mcpac_v("texts", mcpac_s.texts);
      mcpac_v("integer", mcpac_s.integer);
      mcpac_v("real", mcpac_s.real);
      mcpac_v("boolean", mcpac_s.boolean);
      mcpac_v("more_text", mcpac_s.more_text);
      mcpac_v("more_texts", mcpac_s.more_texts);
      mcpac_v("more_integer", mcpac_s.more_integer);
      mcpac_v("more_real", mcpac_s.more_real);
      mcpac_v("more_boolean", mcpac_s.more_boolean);
      mcpac_v("json", mcpac_s.json);
    }
  };
  struct Result : ToolResult {
    std::string text_{};
    std::vector<std::string> texts{};
    std::int64_t integer{};
    double real{};
    bool boolean{};
    Optional<std::string> more_text{};
    static void mcpac_visit(auto& mcpac_s, auto& mcpac_v) {
      mcpac_v("text", mcpac_s.text_);
      mcpac_v("texts", mcpac_s.texts);
      mcpac_v("integer", mcpac_s.integer);
      mcpac_v("real", mcpac_s.real);
      mcpac_v("boolean", mcpac_s.boolean);
      mcpac_v("more_text", mcpac_s.more_text);
    }
  };
  template <class P>
  struct Member {
    ::mcpac::Method<P> tool;
  };
};

#include "warm_uses.hpp"

}  // namespace mcpac::detail::warm
