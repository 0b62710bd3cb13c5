// Warm: what the precompiled runtime of agents is made from. Includes what agents use and
// instantiates it here once (-fpch-instantiate-templates, -fpch-codegen), so that a short agent
// compiles in a fraction of a second. It knows no server: their headers are a second, small
// precompiled header on top of this one. Nothing in it changes what a program means. Needs C++23
// and its library.
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

// Never called. Every line stands for something that agents were seen to write.
inline void containers(const std::string& text) {
  std::map<std::string, int> counts;
  ++counts[text];
  ++counts[text.substr(0, 1)];
  counts.emplace(text, 1);
  for (const auto& [name, count] : counts) std::println("{}: {}", name, count);
  if (counts.contains(text) && counts.find(text) != counts.end()) counts.erase(text);
  std::map<std::string, std::string> texts{{"a", "b"}};
  texts[text] = text;
  for (const auto& [name, value] : texts) std::println("{} {}", name, value);
  std::map<std::string, std::vector<std::string>> groups;
  groups[text].push_back(text);
  for (const auto& [name, members] : groups) std::println("{} {}", name, members.size());
  std::map<std::string, std::size_t> sizes;
  sizes[text] = text.size();
  ++sizes[text.substr(0, 1)];
  sizes.emplace(text, 1);
  for (const auto& [name, size] : sizes) std::println("{} {}", name, size);
  if (sizes.contains(text) && sizes.find(text) != sizes.end()) sizes.erase(text);
  std::unordered_map<std::string, int> hashed;
  ++hashed[text];
  for (const auto& [name, count] : hashed) std::println("{} {}", name, count);
  std::set<std::string> unique{text};
  unique.insert(text);
  std::vector<std::string> lines{text, "x"};
  lines.push_back(text);
  lines.emplace_back("x");
  for (const auto& line : lines) unique.insert(line.substr(0, line.find(' ')));
  std::ranges::sort(lines);
  std::sort(lines.begin(), lines.end());
  std::vector<std::pair<std::string, int>> ranked(counts.begin(), counts.end());
  ranked.emplace_back(text, 1);
  std::vector<int> numbers{1, 2};
  numbers.push_back(3);
  std::ranges::sort(numbers);
  std::println("{}", std::accumulate(numbers.begin(), numbers.end(), 0));
}

inline void texts(const std::string& text, std::string_view view, int i, std::size_t n, double d,
                  long l, std::int64_t big, bool b, char c) {
  std::string mine = text + "x" + text;
  mine += view;
  mine += std::to_string(i) + std::to_string(n) + std::to_string(d);
  std::println("{}", text);
  std::println("{}", mine);
  std::println("{}", view);
  std::println("{} {}", text, mine);
  std::println("{} {} {}", i, n, d);
  std::println("{}: {}", text, n);
  std::println("{}: {}", text, i);
  std::println("{}", i);
  std::println("{}", n);
  std::println("{}", d);
  std::println("{}", l);
  std::println("{} {} {}", big, b, c);
  std::println("text");
  std::print("{}", text);
  std::print("{}\n", text);
  std::print("text");
  mine = std::format("{}", text) + std::format("{}", mine) + std::format("{} {}", text, i);
  mine += std::format("{}-{}", i, n) + std::format("{}/{}", text, mine) + std::format("{:.2f}", d);
  mine += std::format("{:>10}", text) + std::format("{:4}", i) + std::format("{}", i);
  mine += std::format("{}", n) + std::format("item-{}", i) + std::format("{}", view);
  const std::string part = text.substr(1, 2);
  if (part.starts_with("a") || part.ends_with(".txt") || part.find("x") != std::string::npos) {
    std::cout << text << view << i << n << d << "x" << '\n' << std::endl;
    std::cerr << text << '\n';
    std::println(stderr, "{}", text);
  }
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) std::println("{}", line);
  std::string word;
  while (stream >> word) mine += word;
  std::ostringstream out;
  out << text << i;
  mine += out.str();
  std::println("{}", std::stoi(mine) + std::stol(mine));
}

inline void errors_and_json(const std::string& text) {
  try {
    Json json = Json::parse(text);
    json["a"] = text;
    json["n"] = 1;
    json["l"] = std::vector<std::string>{text};
    json.push_back(text);
    for (const auto& item : json) std::println("{}", item.dump());
    for (const auto& [key, value] : json.items()) std::println("{} {}", key, value.dump(2));
    std::println("{}", json["a"].get<std::string>());
    std::println("{}", json.value("n", 0) + json.at("n").get<int>());
    std::println("{}", json.value("a", "x"));
    if (json.contains("a") && json["a"].is_string()) json.erase("a");
    std::println("{} {}", argument<std::string>("a"), argument<std::string>("b", "c"));
    std::println("{} {}", argument<int>("a", 1), argument<bool>("b", false));
    std::println("{}", arguments().dump());
    json = {{"a", text}, {"b", 1}, {"c", true}, {"d", 1.5}};
  } catch (const mcpac::Denied& error) {
    std::println("{}", error.what());
  } catch (const mcpac::Error& error) {
    std::println("{} {}", error.what(), error.code());
  } catch (const std::exception& error) {
    std::println(stderr, "{}", error.what());
  }
}

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

inline int calls(Requires<tool> rt, const std::string& text, std::string_view view) {
  std::vector<Future<tool::Result>> futures;
  futures.push_back(rt.warm.tool.async(
      {.text = text, .texts = {text, "x"}, .integer = 1, .real = 1, .boolean = true}));
  futures.push_back(rt.warm.tool.async({.text = "literal",
                                        .texts = std::vector<std::string>{text},
                                        .integer = 1,
                                        .real = 1.5,
                                        .boolean = true,
                                        .more_text = text,
                                        .more_integer = 5,
                                        .more_real = 5}));
  futures.push_back(rt.warm.tool.async({.text = view,
                                        .texts = {text},
                                        .integer = 1,
                                        .real = 1,
                                        .boolean = true,
                                        .more_text = "x",
                                        .more_texts = {"a"},
                                        .more_boolean = false}));
  for (auto& future : futures) std::println("{}", future.get().text());
  const auto result = rt.warm.tool.try_call(
      {.text = text, .texts = empty, .integer = 1, .real = 1, .boolean = true});
  if (!result) std::println("{}", result.error().what());
  for (const auto& line : result->lines()) std::println("{}", line);
  for (const auto& content : result->content()) std::println("{}", content.text);
  std::println("{}", result->json().dump());
  log(text);
  log(LogLevel::warning, std::format("{}", text));
  return static_cast<int>(futures.size());
}

inline int main_of(int (*agent_main)(Requires<tool>)) {
  return run_agent_main(agent_main);
}

}  // namespace mcpac::detail::warm
