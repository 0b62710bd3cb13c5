// SPDX-License-Identifier: Apache-2.0

#include "cli/persons_word.h"

#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "cli/settings.h"
#include "cli/worker_choice.h"

namespace mcpac::cli {
namespace {

// A person who does not answer is not there.
constexpr int kPatienceMs = 300'000;

std::string user_at_the_terminal() {
  const passwd* user = ::getpwuid(::geteuid());
  return (user != nullptr ? user->pw_name : std::to_string(::geteuid())) +
         std::string(" at the terminal");
}

bool write_out(int terminal, std::string_view text) {
  while (!text.empty()) {
    pollfd ready{terminal, POLLOUT, 0};
    if (::poll(&ready, 1, 1'000) <= 0) return false;
    const ssize_t n = ::write(terminal, text.data(), text.size());
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// What was typed before the question is no answer to it.
bool says_yes(int terminal, std::string_view question) {
  ::tcflush(terminal, TCIFLUSH);
  if (!write_out(terminal, question)) return false;
  std::string line;
  while (line.size() < 64 && !line.ends_with('\n')) {
    pollfd typed{terminal, POLLIN, 0};
    const int ready = ::poll(&typed, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    char c = 0;
    if (ready <= 0 || ::read(terminal, &c, 1) != 1) return false;
    line += c;
  }
  return line == "y\n" || line == "Y\n" || line == "yes\n";
}

struct Switch {
  std::string option;
  std::string question;
  std::string fix;
  std::string refused = {};  // of a setting that would have been the word
};

Result<std::string> ask_for_word(const Switch& asked) {
  const UniqueFd terminal = open_terminal();
  if (terminal && says_yes(terminal.get(), asked.question)) return user_at_the_terminal();
  std::string why = terminal ? "the answer at the terminal was no"
                             : "a program could have written the command line";
  if (!asked.refused.empty()) why += "; a setting is there, and not taken: " + asked.refused;
  return fail(ErrorId::kPersonNeeded,
              fmt::format("{} wants the word of a person, and there is none", asked.option),
              {.where = asked.option, .why = std::move(why), .fix = asked.fix});
}

}  // namespace

Result<std::string> persons_word(const RunOptions& options, sandbox::Tier lowest) {
  std::string word;
  if (options.observe) {
    const Setting setting = off_switch_setting(account_home());
    if (is_allowed(setting)) {
      word = "the setting " + setting.file.string();
    } else {
      auto said = ask_for_word(
          {.option = "--no-permission-check",
           .question = "mcpac: --no-permission-check makes calls that were not granted. A "
                       "deny and mcpac.policy\r\nhold all the same. Run it so? [y/N] ",
           .fix = "grant what the program calls: without the switch its refusal names the --grant; "
                  "or say yes at a terminal, for this run (docs/configuration.md: for all runs)",
           .refused = setting.refused});
      if (!said) return said;
      word = std::move(*said);
    }
  }
  auto tier = word_for_tier(lowest);
  if (!tier) return tier;
  return word.empty() ? tier : Result<std::string>(std::move(word));
}

Result<std::string> word_for_tier(sandbox::Tier lowest) {
  const auto home = account_home();
  if (lowest <= accepted_tier(home)) return std::string();
  const std::string tier = sandbox::to_string(lowest);
  return ask_for_word(
      {.option = "--min-tier " + tier,
       .question = fmt::format("mcpac: --min-tier {} accepts a weaker sandbox than you "
                               "accepted on this machine.\r\nRun it so? [y/N] ",
                               tier),
       .fix = fmt::format("run it at a terminal and say yes, or, there and for all runs: mcpac "
                          "doctor --accept-tier {}",
                          tier),
       .refused = tier_setting(home).refused});
}

Result<std::string> word_for_accepting(sandbox::Tier tier) {
  if (tier <= accepted_tier(account_home())) return std::string();
  const std::string name = sandbox::to_string(tier);
  return ask_for_word(
      {.option = "--accept-tier " + name,
       .question = fmt::format("mcpac: tier {} is a weaker sandbox for every run and "
                               "confined server on this machine from now on.\r\n"
                               "Accept it? [y/N] ",
                               name),
       .fix = "run it at a terminal and say yes (docs/configuration.md: the file "
              "that keeps it)"});
}

bool says_yes_at_terminal(std::string_view question) {
  const UniqueFd terminal = open_terminal();
  return terminal && says_yes(terminal.get(), question);
}

}  // namespace mcpac::cli
