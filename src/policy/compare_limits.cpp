#include "policy/compare_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace mcpac::policy {
namespace {

// The rules of one layer that answer one class of calls with a yes, or with a question.
using Rules = std::vector<const CompiledRule*>;
// For each rule of the wider side the rules of the narrower one that admit calls which count
// against it.
using Drawing = std::map<const CompiledRule*, Rules>;

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t calls_of(const CompiledRule& rule) {
  return rule.clauses.calls.value_or(kUnlimited);
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > kUnlimited - b ? kUnlimited : a + b;
}

// The most calls that a rule admits in one stretch of `unit`.
std::uint64_t calls_within(const CompiledRule& rule, std::chrono::seconds unit) {
  const auto& rate = rule.clauses.rate;
  std::uint64_t most = calls_of(rule);
  if (rate) {
    const auto stretches =
        static_cast<std::uint64_t>((unit.count() + rate->unit.count() - 1) / rate->unit.count());
    most = std::min(most, rate->calls * std::max<std::uint64_t>(stretches, 1));
  }
  return most;
}

bool ends_no_earlier(const CompiledRule& wider, const CompiledRule& narrower) {
  const auto& w = wider.clauses;
  const auto& n = narrower.clauses;
  if (w.duration && (!n.duration || n.duration->value > w.duration->value)) return false;
  return !w.until || (n.until && n.until->value <= w.until->value);
}

std::uint64_t bytes_of(const std::optional<ast::Size>& size) {
  return size ? size->bytes : kUnlimited;
}

bool limits_amounts(const CompiledRule& rule) {
  return rule.clauses.bytes_in || rule.clauses.bytes_out || rule.clauses.cost;
}

// Are all amounts together that `drawing` may use no more than the wider rule allows?
bool amounts_suffice(const CompiledRule& wider, const Rules& drawing) {
  const auto& w = wider.clauses;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t cost = 0;
  for (const auto* rule : drawing) {
    const auto& n = rule->clauses;
    in = sum(in, bytes_of(n.bytes_in));
    out = sum(out, bytes_of(n.bytes_out));
    const bool comparable = w.cost && n.cost && n.cost->value.currency == w.cost->value.currency;
    cost = sum(cost, comparable ? n.cost->value.millionths : kUnlimited);
  }
  return in <= bytes_of(w.bytes_in) && out <= bytes_of(w.bytes_out) &&
         (!w.cost || cost <= w.cost->value.millionths);
}

bool counts_suffice(const CompiledRule& wider, const Rules& drawing) {
  if (!amounts_suffice(wider, drawing)) return false;
  std::uint64_t all = 0;
  for (const auto* rule : drawing) all = sum(all, calls_of(*rule));
  if (wider.clauses.calls && all > *wider.clauses.calls) return false;
  if (!wider.clauses.rate) return true;
  std::uint64_t within = 0;
  for (const auto* rule : drawing)
    within = sum(within, calls_within(*rule, wider.clauses.rate->unit));
  return within <= wider.clauses.rate->calls;
}

std::string in_words(std::uint64_t calls) {
  return calls == kUnlimited ? std::string("any number of calls") : fmt::format("{} calls", calls);
}

// What one class of calls alone shows: the most calls of it in one moment, and the last moment of
// any.
LimitAnswer certain_excess(const Rules& wider, const Rules& narrower) {
  const auto counts_bytes = [](const CompiledRule* rule) {
    return rule->clauses.bytes_in || rule->clauses.bytes_out;
  };
  if (std::ranges::any_of(narrower, [](const auto* rule) { return !rule->is_limited(); }) &&
      std::ranges::all_of(wider, counts_bytes)) {
    // Every call has arguments and a result of two bytes at least.
    const auto& w = wider.front()->clauses;
    return {LimitAnswer::Kind::kExceeds,
            fmt::format("any number of bytes, instead of {}",
                        (w.bytes_out ? w.bytes_out : w.bytes_in)->spelling),
            nullptr};
  }
  // How many calls an amount is good for hangs on the calls.
  if (std::ranges::any_of(
          wider, limits_amounts, [](const auto* r) -> auto& { return *r; }) ||
      std::ranges::any_of(
          narrower, limits_amounts, [](const auto* r) -> auto& { return *r; })) {
    return {LimitAnswer::Kind::kUnknown, "limits of bytes or costs that differ", nullptr};
  }
  const auto most = [](const Rules& rules, auto count) {
    std::uint64_t all = 0;
    for (const auto* rule : rules) all = std::max(all, count(*rule));
    return all;
  };
  // All at once, at the start: every rule that matches is charged, so the largest limit counts.
  const auto at_once = [](const CompiledRule& rule) {
    return calls_within(rule, std::chrono::seconds(1));
  };
  const std::uint64_t n = most(narrower, at_once);
  const std::uint64_t w = most(wider, at_once);
  if (n > w)
    return {LimitAnswer::Kind::kExceeds, fmt::format("{}, instead of {}", in_words(n), in_words(w)),
            nullptr};
  // One after the other, as long as the run lasts.
  const auto in_all = [](const CompiledRule& rule) {
    return rule.clauses.duration || rule.clauses.until ? 0 : calls_of(rule);
  };
  const std::uint64_t all = most(narrower, in_all);
  const std::uint64_t limit = most(wider, calls_of);
  if (all > limit)
    return {LimitAnswer::Kind::kExceeds,
            fmt::format("{}, instead of {}", in_words(all), in_words(limit)), nullptr};
  for (const auto* rule : narrower) {
    const bool outlasts = std::ranges::none_of(
        wider, [&](const CompiledRule* other) { return ends_no_earlier(*other, *rule); });
    const auto& c = rule->clauses;
    // One kind of end on both sides: then the later end is a moment at which the sides differ.
    const bool comparable = std::ranges::all_of(wider, [&](const CompiledRule* other) {
      const auto& o = other->clauses;
      return (o.duration.has_value() != o.until.has_value()) && (!c.duration || !o.until) &&
             (!c.until || !o.duration);
    });
    if (outlasts && comparable) {
      const std::string until = c.duration ? fmt::format("for {}", c.duration->spelling)
                                : c.until  ? fmt::format("until {}", c.until->spelling)
                                           : std::string("without an end");
      const auto& o = wider.front()->clauses;
      return {LimitAnswer::Kind::kExceeds,
              fmt::format("{}, instead of {}", until,
                          o.duration ? fmt::format("for {}", o.duration->spelling)
                                     : fmt::format("until {}", o.until->spelling)),
              nullptr};
    }
  }
  return {LimitAnswer::Kind::kUnknown, "limits that cannot be compared one with one", nullptr};
}

LimitAnswer compare(const Rules& wider, const Rules& narrower, const Drawing& drawing) {
  for (const auto* rule : narrower) {
    const bool outlasted = std::ranges::any_of(wider, [&](const CompiledRule* other) {
      return !other->is_limited() ||
             (ends_no_earlier(*other, *rule) && counts_suffice(*other, drawing.at(other)));
    });
    if (!outlasted) return certain_excess(wider, narrower);
  }
  return {};
}

// The rules by which a layer gives the answer that it gives; of a no there are none.
Rules rules_for(const MarkedLayer& layer, const Marks& marks) {
  const Effect effect = layer.answer(marks);
  return effect == Effect::kDeny ? Rules() : layer.matching(marks, effect);
}

// One layer of each side. Calls that some other layer of the narrower side denies do not count.
LimitAnswer compare_pair(const MarkedLayer& wider, const MarkedLayer& narrower,
                         const std::vector<const ValueClass*>& calls) {
  Drawing drawing;
  for (const auto* call : calls) {
    for (const auto* limited : rules_for(wider, call->marks)) {
      auto& drawn = drawing[limited];
      for (const auto* rule : rules_for(narrower, call->marks)) {
        if (std::ranges::find(drawn, rule) == drawn.end()) drawn.push_back(rule);
      }
    }
  }
  for (const auto* call : calls) {
    auto answer = compare(rules_for(wider, call->marks), rules_for(narrower, call->marks), drawing);
    answer.call = call;
    if (answer.kind != LimitAnswer::Kind::kWithin) return answer;
  }
  return {};
}

}  // namespace

LimitAnswer compare_limits_of(const std::vector<MarkedLayer>& wider,
                              const std::vector<MarkedLayer>& narrower,
                              const std::vector<ValueClass>& calls) {
  std::vector<const ValueClass*> possible;
  for (const auto& call : calls) {
    const bool denied = std::ranges::any_of(narrower, [&](const MarkedLayer& layer) {
      return layer.answer(call.marks) == Effect::kDeny;
    });
    if (!denied) possible.push_back(&call);
  }
  for (const auto& above : wider) {
    LimitAnswer worst;
    for (const auto& below : narrower) {
      worst = compare_pair(above, below, possible);
      if (worst.kind == LimitAnswer::Kind::kWithin) break;
    }
    if (worst.kind == LimitAnswer::Kind::kWithin) continue;
    // Of several layers each alone may promise too much, and all together not.
    if (narrower.size() > 1) worst.kind = LimitAnswer::Kind::kUnknown;
    return worst;
  }
  return {};
}

}  // namespace mcpac::policy
