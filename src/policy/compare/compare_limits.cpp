// SPDX-License-Identifier: Apache-2.0

#include "policy/compare/compare_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/quantity.h"
#include "policy/decide/decide.h"

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
  return calls == kUnlimited ? std::string("any number of calls") : counted(calls, "call");
}

LimitAnswer exceeds(std::string what) {
  return {LimitAnswer::Kind::kExceeds, std::move(what), nullptr};
}

// Bytes and costs: how many calls an amount is good for hangs on the calls. Nothing: none is named.
std::optional<LimitAnswer> excess_of_amounts(const Rules& wider, const Rules& narrower) {
  const auto counts_bytes = [](const CompiledRule* rule) {
    return rule->clauses.bytes_in || rule->clauses.bytes_out;
  };
  if (std::ranges::any_of(narrower, [](const auto* rule) { return !rule->is_limited(); }) &&
      std::ranges::all_of(wider, counts_bytes)) {
    // Every call has arguments and a result of two bytes at least.
    const auto& w = wider.front()->clauses;
    return exceeds(fmt::format("any number of bytes, instead of {}",
                               (w.bytes_out ? w.bytes_out : w.bytes_in)->spelling));
  }
  const auto names_any = [](const Rules& rules) {
    return std::ranges::any_of(rules, [](const auto* rule) { return limits_amounts(*rule); });
  };
  if (!names_any(wider) && !names_any(narrower)) return std::nullopt;
  return LimitAnswer{LimitAnswer::Kind::kUnknown, "limits of bytes or costs that differ", nullptr};
}

std::optional<LimitAnswer> excess_of_calls(const Rules& wider, const Rules& narrower) {
  const auto most = [](const Rules& rules, auto count) {
    std::uint64_t all = 0;
    for (const auto* rule : rules) all = std::max(all, count(*rule));
    return all;
  };
  const auto beyond = [](std::uint64_t n, std::uint64_t w) {
    return exceeds(fmt::format("{}, instead of {}", in_words(n), in_words(w)));
  };
  // All at once, at the start: every rule that matches is charged, so the largest limit counts.
  const auto at_once = [](const CompiledRule& rule) {
    return calls_within(rule, std::chrono::seconds(1));
  };
  const std::uint64_t n = most(narrower, at_once);
  const std::uint64_t w = most(wider, at_once);
  if (n > w) return beyond(n, w);
  // One after the other, as long as the run lasts.
  const auto in_all = [](const CompiledRule& rule) {
    return rule.clauses.duration || rule.clauses.until ? 0 : calls_of(rule);
  };
  const std::uint64_t all = most(narrower, in_all);
  const std::uint64_t limit = most(wider, calls_of);
  return all > limit ? std::optional(beyond(all, limit)) : std::nullopt;
}

std::string end_in_words(const CompiledRule& rule) {
  const auto& c = rule.clauses;
  return c.duration ? fmt::format("for {}", c.duration->spelling)
         : c.until  ? fmt::format("until {}", c.until->spelling)
                    : std::string("without an end");
}

std::optional<LimitAnswer> excess_of_time(const Rules& wider, const Rules& narrower) {
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
    if (outlasts && comparable)
      return exceeds(
          fmt::format("{}, instead of {}", end_in_words(*rule), end_in_words(*wider.front())));
  }
  return std::nullopt;
}

// What one class of calls alone shows: the most calls of it in one moment, and the last moment of
// any.
LimitAnswer certain_excess(const Rules& wider, const Rules& narrower) {
  if (auto amounts = excess_of_amounts(wider, narrower)) return *amounts;
  if (auto calls = excess_of_calls(wider, narrower)) return *calls;
  if (auto time = excess_of_time(wider, narrower)) return *time;
  return {LimitAnswer::Kind::kUnknown,
          "limits that cannot be compared one with one, or that several tools share", nullptr};
}

// The rules that a call is charged to: an approved question is charged to the allows as well.
Rules charged(const MarkedLayer& layer, const Marks& marks) {
  if (layer.answer(marks) == Effect::kDeny) return {};
  Rules rules = layer.matching(marks, Effect::kAsk);
  std::ranges::copy(layer.matching(marks, Effect::kAllow), std::back_inserter(rules));
  return rules;
}

// The rules by which a layer gives the answer that it gives; of a no there are none. An `otherwise`
// is none of them beside an allow: what takes over when that is used up is a question, no yes.
Rules rules_for(const MarkedLayer& layer, const Marks& marks) {
  const Effect effect = layer.answer(marks);
  return effect == Effect::kDeny ? Rules() : layer.matching(marks, effect);
}

Rules asks_otherwise(const MarkedLayer& layer, const Marks& marks) {
  Rules rules = layer.matching(marks, Effect::kAsk);
  std::erase_if(rules, [](const CompiledRule* rule) { return !rule->asks_otherwise(); });
  return rules;
}

bool has(const Rules& rules, const CompiledRule* rule) {
  return std::ranges::find(rules, rule) != rules.end();
}

// One layer of each side, for one tool; a limit of a rule that covers several is shared by all.
class LayerPair {
 public:
  // `calls`: those to this tool that no layer of the narrower side denies. `others`: every other
  // tool that this side admits calls of.
  LayerPair(const MarkedLayer& wider, const MarkedLayer& narrower,
            const std::vector<const ValueClass*>& calls, const std::vector<Permission>& others)
      : wider_(wider), narrower_(narrower), calls_(calls), others_(others) {
    for (const auto* call : calls) {
      const Rules below = charged(narrower, call->marks);
      for (const auto* limited : charged(wider, call->marks)) draw(limited, below);
    }
    for (const auto& tool : others) {
      const Rules below = open_rules(*narrower.layer, tool);
      for (const auto* limited : open_rules(*wider.layer, tool)) draw(limited, below);
    }
  }

  [[nodiscard]] LimitAnswer answer() const {
    for (const auto* call : calls_) {
      auto answer = compare(rules_for(wider_, call->marks), asks_otherwise(wider_, call->marks),
                            charged(narrower_, call->marks));
      answer.call = call;
      if (answer.kind != LimitAnswer::Kind::kWithin) return answer;
    }
    return {};
  }

 private:
  void draw(const CompiledRule* limited, const Rules& below) {
    auto& drawn = drawing_[limited];
    for (const auto* rule : below) {
      if (!has(drawn, rule)) drawn.push_back(rule);
    }
  }

  // Whatever the arguments: for other tools than this one that is not looked into, so more is drawn
  // here than there may be, and never less.
  static Rules open_rules(const CompiledLayer& layer, const Permission& tool) {
    Rules rules;
    for (const auto* target : covering(layer, tool)) {
      const auto* rule = &layer.rules[target->rule];
      if (rule->effect != Effect::kDeny && !has(rules, rule)) rules.push_back(rule);
    }
    return rules;
  }

  // `otherwise`: the rules of the wider side that ask once its limits are used up. A question of
  // the narrower side may become theirs, a yes may not.
  [[nodiscard]] LimitAnswer compare(const Rules& wider, const Rules& otherwise,
                                    const Rules& narrower) const {
    for (const auto* rule : narrower) {
      const auto is_enough = [&](const CompiledRule* other) { return outlasts(*other, *rule); };
      const bool outlasted =
          std::ranges::any_of(wider, is_enough) ||
          (rule->effect == Effect::kAsk && std::ranges::any_of(otherwise, is_enough));
      if (!outlasted) return certain_excess(wider, narrower);
    }
    return {};
  }

  [[nodiscard]] bool outlasts(const CompiledRule& wider, const CompiledRule& narrower) const {
    if (!wider.is_limited()) return true;
    if (!ends_no_earlier(wider, narrower)) return false;
    return counts_suffice(wider, drawing_.at(&wider)) ||
           (counts_suffice(wider, {&narrower}) && is_known_along(wider, narrower));
  }

  // Asked once for each pair of rules: it looks through all calls.
  [[nodiscard]] bool is_known_along(const CompiledRule& wider, const CompiledRule& narrower) const {
    const std::pair key(&wider, &narrower);
    const auto known = along_.find(key);
    if (known != along_.end()) return known->second;
    return along_.emplace(key, is_charged_along(wider, narrower)).first->second;
  }

  // Is the narrower rule charged whenever the wider one is? Then it is used up no later.
  [[nodiscard]] bool is_charged_along(const CompiledRule& wider,
                                      const CompiledRule& narrower) const {
    const bool here = std::ranges::all_of(calls_, [&](const ValueClass* call) {
      return !has(charged(wider_, call->marks), &wider) ||
             has(charged(narrower_, call->marks), &narrower);
    });
    return here && std::ranges::all_of(others_, [&](const Permission& tool) {
             return is_charged_along(wider, narrower, tool);
           });
  }

  // By the texts of the targets: a whole tool, or the same brackets.
  [[nodiscard]] bool is_charged_along(const CompiledRule& wider, const CompiledRule& narrower,
                                      const Permission& tool) const {
    const auto below = covering(*narrower_.layer, tool);
    return std::ranges::all_of(covering(*wider_.layer, tool), [&](const CompiledTarget* above) {
      if (&wider_.layer->rules[above->rule] != &wider) return true;
      return std::ranges::any_of(below, [&](const CompiledTarget* target) {
        return &narrower_.layer->rules[target->rule] == &narrower &&
               (target->whole_tool() ||
                (target->text == above->text && wider.effect == narrower.effect));
      });
    });
  }

  const MarkedLayer& wider_;
  const MarkedLayer& narrower_;
  const std::vector<const ValueClass*>& calls_;
  const std::vector<Permission>& others_;
  Drawing drawing_;
  mutable std::map<std::pair<const CompiledRule*, const CompiledRule*>, bool> along_;
};

// What limits count.
enum class Amount : std::uint8_t { kCalls, kBytesOut, kBytesIn, kCost };

std::string in_words(Amount amount, std::uint64_t count, const std::string& currency) {
  switch (amount) {
    case Amount::kCalls: return in_words(count);
    case Amount::kCost:
      if (count == kUnlimited) return "any cost";
      return to_text(Money{count, currency});
    case Amount::kBytesOut:
    case Amount::kBytesIn: break;
  }
  return count == kUnlimited ? "any number of bytes" : counted(count, "byte");
}

// Calls made one after the other in one moment, until the wider side has used up what the narrower
// one has not: a proof that limits exceed. What the wider side may do is rounded up, what the
// narrower one may do is rounded down.
class Rehearsal {
 public:
  Rehearsal(Amount amount, std::string currency)
      : amount_(amount), currency_(std::move(currency)) {}

  // `own` before `others` is ended by one of them, whose index it answers.
  struct Found {
    std::size_t own;
    std::string what;
  };
  std::optional<Found> run(const std::vector<ChargedCall>& own,
                           const std::vector<ChargedCall>& others, std::size_t above) {
    above_ = above;
    used_.clear();
    std::vector<const ChargedCall*> left;
    for (const auto& call : others) left.push_back(&call);
    for (const auto& call : own) left.push_back(&call);
    while (true) {
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (auto what = excess(own[i])) return Found{i, std::move(*what)};
      }
      // Of all that still can be made the call that uses the fewest limits up.
      const auto best = std::ranges::min_element(left, {}, [&](const ChargedCall* call) {
        return can_be_made(*call) ? fresh_limits(*call) : SIZE_MAX;
      });
      if (best == left.end() || !can_be_made(**best)) return std::nullopt;
      make(**best);
      left.erase(best);
    }
  }

 private:
  // Of one rule; kUnlimited: it does not count this.
  [[nodiscard]] std::uint64_t limit(const CompiledRule& rule) const {
    const auto& c = rule.clauses;
    switch (amount_) {
      case Amount::kCalls: return calls_within(rule, std::chrono::seconds(1));
      case Amount::kBytesOut: return bytes_of(c.bytes_out);
      case Amount::kBytesIn: return bytes_of(c.bytes_in);
      case Amount::kCost: break;
    }
    if (!c.cost) return kUnlimited;
    return c.cost->value.currency == currency_ ? c.cost->value.millionths : 0;
  }
  [[nodiscard]] bool counts_others(const CompiledRule& rule) const {
    const auto& c = rule.clauses;
    return (amount_ != Amount::kCalls && (c.calls || c.rate)) ||
           (amount_ != Amount::kBytesOut && c.bytes_out) ||
           (amount_ != Amount::kBytesIn && c.bytes_in) || (amount_ != Amount::kCost && c.cost);
  }
  [[nodiscard]] std::uint64_t left_of(const CompiledRule& rule) const {
    const std::uint64_t all = limit(rule);
    const auto used = used_.find(&rule);
    if (all == kUnlimited || used == used_.end()) return all;
    return all - std::min(all, used->second);
  }

  // With a limit in another currency it is not known: then there is no end.
  [[nodiscard]] std::uint64_t left_above(const ChargedCall& call) const {
    std::uint64_t most = 0;
    for (const auto* rule : call.wider[above_]) {
      const bool foreign = amount_ == Amount::kCost && rule->clauses.cost &&
                           rule->clauses.cost->value.currency != currency_;
      most = std::max(most, foreign ? kUnlimited : left_of(*rule));
    }
    return most;
  }
  [[nodiscard]] std::uint64_t left_below(const ChargedCall& call) const {
    std::uint64_t least = kUnlimited;
    for (const auto& rules : call.answering) {
      std::uint64_t most = 0;
      for (const auto* rule : rules)
        most = std::max(most, counts_others(*rule) ? 0 : left_of(*rule));
      least = std::min(least, most);
    }
    return least;
  }

  [[nodiscard]] std::optional<std::string> excess(const ChargedCall& call) const {
    const std::uint64_t below = left_below(call);
    const std::uint64_t above = left_above(call);
    if (below <= above) return std::nullopt;
    std::uint64_t all = 0;
    for (const auto* rule : call.wider[above_]) all = std::max(all, limit(*rule));
    return fmt::format(
        "{}, instead of {}",
        in_words(amount_, below == kUnlimited ? below : all - above + below, currency_),
        in_words(amount_, all, currency_));
  }

  [[nodiscard]] bool can_be_made(const ChargedCall& call) const {
    const std::uint64_t most = std::min(left_below(call), left_above(call));
    return most > 0 && most != kUnlimited;
  }
  [[nodiscard]] std::size_t fresh_limits(const ChargedCall& call) const {
    std::size_t fresh = 0;
    for (const auto& rules : call.narrower) {
      for (const auto* rule : rules) fresh += left_of(*rule) > 0 && rule->is_limited() ? 1 : 0;
    }
    return fresh;
  }
  void make(const ChargedCall& call) {
    const std::uint64_t most = std::min(left_below(call), left_above(call));
    for (const auto& rules : call.narrower) {
      for (const auto* rule : rules) used_[rule] = sum(used_[rule], most);
    }
    for (const auto* rule : call.wider[above_]) used_[rule] = sum(used_[rule], most);
  }

  Amount amount_;
  std::string currency_;
  std::size_t above_ = 0;
  std::map<const CompiledRule*, std::uint64_t> used_;
};

// More than these are not tried out.
constexpr std::size_t kMostRehearsed = 300;

std::vector<ChargedCall> those_charged_to(const std::vector<ChargedCall>& calls, std::size_t above,
                                          const CompiledRule* rule) {
  std::vector<ChargedCall> some;
  for (const auto& call : calls) {
    if (has(call.wider[above], rule) && some.size() < kMostRehearsed) some.push_back(call);
  }
  return some;
}

// For each limit of one layer above: what the narrower side can do to it.
std::optional<LimitAnswer> rehearsed_excess(const std::vector<MarkedLayer>& wider,
                                            const std::vector<MarkedLayer>& narrower,
                                            std::size_t above,
                                            const std::vector<const ValueClass*>& calls,
                                            const std::vector<ChargedCall>& others) {
  std::vector<ChargedCall> own;
  Rules limits;
  for (const auto* call : calls) {
    own.push_back(charged_call(wider, narrower, call->marks));
    for (const auto* rule : own.back().wider[above]) {
      if (rule->is_limited() && !has(limits, rule)) limits.push_back(rule);
    }
  }
  for (const auto* limited : limits) {
    std::vector<const ValueClass*> charged_here;
    std::vector<ChargedCall> mine;
    for (std::size_t i = 0; i < own.size() && mine.size() < kMostRehearsed; ++i) {
      if (!has(own[i].wider[above], limited)) continue;
      charged_here.push_back(calls[i]);
      mine.push_back(own[i]);
    }
    const auto theirs = those_charged_to(others, above, limited);
    const auto& cost = limited->clauses.cost;
    for (const Amount amount :
         {Amount::kCalls, Amount::kBytesOut, Amount::kBytesIn, Amount::kCost}) {
      Rehearsal rehearsal(amount, cost ? cost->value.currency : "");
      if (amount == Amount::kCost && !cost) continue;
      auto found = rehearsal.run(mine, theirs, above);
      if (found)
        return LimitAnswer{LimitAnswer::Kind::kExceeds, std::move(found->what),
                           charged_here[found->own]};
    }
  }
  return std::nullopt;
}

// A tool that some layer has no rule for, or denies as a whole, cannot be called.
bool is_open(const std::vector<MarkedLayer>& layers, const Permission& tool) {
  return std::ranges::all_of(layers, [&](const MarkedLayer& marked) {
    bool open = false;
    for (const auto* target : covering(*marked.layer, tool)) {
      const auto& rule = marked.layer->rules[target->rule];
      if (rule.effect == Effect::kDeny && target->whole_tool()) return false;
      open = open || rule.effect != Effect::kDeny;
    }
    return open;
  });
}

}  // namespace

ChargedCall charged_call(const std::vector<MarkedLayer>& wider,
                         const std::vector<MarkedLayer>& narrower, const Marks& marks) {
  ChargedCall call;
  for (const auto& layer : wider) call.wider.push_back(rules_for(layer, marks));
  for (const auto& layer : narrower) {
    call.narrower.push_back(charged(layer, marks));
    call.answering.push_back(rules_for(layer, marks));
  }
  return call;
}

LimitAnswer compare_limits_of(const std::vector<MarkedLayer>& wider,
                              const std::vector<MarkedLayer>& narrower,
                              const std::vector<ValueClass>& calls,
                              const std::vector<Permission>& other_tools,
                              const CallsOfOthers& calls_of_others) {
  std::vector<const ValueClass*> possible;
  for (const auto& call : calls) {
    const bool denied = std::ranges::any_of(narrower, [&](const MarkedLayer& layer) {
      return layer.answer(call.marks) == Effect::kDeny;
    });
    if (!denied) possible.push_back(&call);
  }
  std::vector<Permission> others;
  std::ranges::copy_if(other_tools, std::back_inserter(others),
                       [&](const Permission& tool) { return is_open(narrower, tool); });
  for (std::size_t above = 0; above < wider.size(); ++above) {
    LimitAnswer worst;
    for (const auto& below : narrower) {
      worst = LayerPair(wider[above], below, possible, others).answer();
      if (worst.kind == LimitAnswer::Kind::kWithin) break;
    }
    if (worst.kind == LimitAnswer::Kind::kWithin) continue;
    // Of several layers each alone may promise too much, and all together not.
    if (narrower.size() > 1) worst.kind = LimitAnswer::Kind::kUnknown;
    if (worst.kind == LimitAnswer::Kind::kExceeds) return worst;
    if (auto alone = rehearsed_excess(wider, narrower, above, possible, {})) return *alone;
    if (auto all = rehearsed_excess(wider, narrower, above, possible, calls_of_others()))
      return *all;
    return worst;
  }
  return {};
}

}  // namespace mcpac::policy
