// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/policy_commands.h"
#include "cli/rule_reader.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

using policy::Excess;
using policy::Inclusion;
using policy::Undecided;

// Which of the two admits more.
enum class Side : std::uint8_t { kNew, kOld };

Json to_json(const Inclusion& one, Side side) {
  if (const auto* undecided = std::get_if<Undecided>(&one)) {
    return {{"permission", undecided->permission.text()},
            {"decided", false},
            {"reason", undecided->why}};
  }
  const auto& excess = std::get<Excess>(one);
  Json json = {{"permission", excess.permission.text()},
               {"decided", true},
               {"call", excess.arguments},
               {"generous", to_string(excess.narrower)},
               {"strict", to_string(excess.wider)},
               {"old", to_string(side == Side::kNew ? excess.wider : excess.narrower)},
               {"new", to_string(side == Side::kNew ? excess.narrower : excess.wider)}};
  if (!excess.limit.empty()) json["limit"] = excess.limit;
  if (excess.if_folders) json["if_folders"] = true;
  return json;
}

// "5 calls, instead of 3" as the other side has it.
std::string turned_round(const std::string& limit) {
  constexpr std::string_view kInstead = ", instead of ";
  const auto at = limit.find(kInstead);
  if (at == std::string::npos || limit.find(kInstead, at + 1) != std::string::npos) return limit;
  return fmt::format("{}{}{}", limit.substr(at + kInstead.size()), kInstead, limit.substr(0, at));
}

// One line, in the order in which things change: what the new one says, instead of the old one.
std::string line_of(const Inclusion& one, Side side) {
  if (const auto* undecided = std::get_if<Undecided>(&one)) {
    return fmt::format("? {}: cannot be decided: {}\n",
                       printable_in_place(undecided->permission.text()),
                       printable_in_place(undecided->why));
  }
  const auto& excess = std::get<Excess>(one);
  const bool is_new = side == Side::kNew;
  const auto now = is_new ? excess.narrower : excess.wider;
  const auto before = is_new ? excess.wider : excess.narrower;
  std::string how = excess.limit.empty()
                        ? fmt::format("{}, instead of {}", to_string(now), to_string(before))
                    : is_new ? excess.limit
                             : turned_round(excess.limit);
  if (excess.if_folders) how += ", where its path is a folder";
  return fmt::format("{} {} {}: {}\n", is_new ? '+' : '-',
                     printable_in_place(excess.permission.text()),
                     printable_in_place(to_text(excess.arguments)), printable_in_place(how));
}

Json to_json(const std::vector<Inclusion>& all, Side side) {
  Json list = Json::array();
  for (const auto& one : all) list.push_back(to_json(one, side));
  return list;
}

void diff(Context& context, const std::string& before, const std::string& after) {
  auto reader = RuleReader::open(context);
  if (!reader) return context.fail(reader.error());
  const auto old_one = (*reader)->file(before);
  if (!old_one) return context.fail(old_one.error());
  const auto new_one = (*reader)->file(after);
  if (!new_one) return context.fail(new_one.error());
  const auto more = old_one->beyond(*new_one);
  const auto less = new_one->beyond(*old_one);
  if (context.json) {
    context.print({{"old", before},
                   {"new", after},
                   {"more", to_json(more, Side::kNew)},
                   {"less", to_json(less, Side::kOld)}});
  } else {
    for (const auto& one : more) fmt::print("{}", line_of(one, Side::kNew));
    for (const auto& one : less) fmt::print("{}", line_of(one, Side::kOld));
    const std::string name = printable_in_place(after);
    const std::string old_name = printable_in_place(before);
    if (!more.empty()) {
      fmt::print("{} may admit what {} does not\n", name, old_name);
    } else {
      fmt::print("{} admits nothing that {} does not\n", name, old_name);
    }
  }
  context.exit_code = more.empty() ? 0 : static_cast<int>(ExitCode::kRefused);
}

}  // namespace

void add_policy_diff(CLI::App& policy, Context& context) {
  auto before = std::make_shared<std::string>();
  auto after = std::make_shared<std::string>();
  auto* command = policy.add_subcommand(
      "diff",
      "calls that a new policy admits and the old one does not, and the other way round; exit 77 "
      "when it may admit more");
  add_common_options(*command, context);
  command->add_option("OLD", *before, "a file of rules")->required();
  command->add_option("NEW", *after, "a file of rules")->required();
  command->callback([&context, before, after] { diff(context, *before, *after); });
}

}  // namespace mcpac::cli
