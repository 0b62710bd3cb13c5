#include "cli/persons_word.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "cli/accepted_tier.h"
#include "cli/worker_choice.h"
#include "core/file.h"

namespace mcpac::cli {
namespace {

constexpr std::string_view kAllowed = "allowed\n";
// A person who does not answer is not there.
constexpr int kPatienceMs = 300'000;

std::string user_at_the_terminal() {
  const passwd* user = ::getpwuid(::getuid());
  return (user != nullptr ? user->pw_name : std::to_string(::getuid())) +
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
};

Result<std::string> ask_for_word(const Switch& asked) {
  const UniqueFd terminal = open_terminal();
  if (terminal && says_yes(terminal.get(), asked.question)) return user_at_the_terminal();
  return fail(ErrorId::kPersonNeeded,
              fmt::format("{} wants the word of a person, and there is none", asked.option),
              {.where = asked.option,
               .why = terminal ? "the answer at the terminal was no"
                               : "whoever writes a command line could write it, a program as well",
               .fix = asked.fix});
}

}  // namespace

std::filesystem::path off_switch_file() {
  return configuration_folder() / "no-permission-check";
}

bool is_off_switch_allowed(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd || !is_of_user_alone(fd.get())) return false;
  std::array<char, 16> text{};
  const ssize_t size = ::read(fd.get(), text.data(), text.size());
  return size >= 0 && std::string_view(text.data(), static_cast<std::size_t>(size)) == kAllowed;
}

Result<std::string> persons_word(const RunOptions& options, sandbox::Tier lowest) {
  std::string word;
  if (options.observe) {
    const auto file = off_switch_file();
    if (is_off_switch_allowed(file)) {
      word = "the setting " + file.string();
    } else {
      auto said = ask_for_word(
          {.option = "--no-permission-check",
           .question = "mcpac: --no-permission-check makes calls that were not granted. A "
                       "deny and mcpac.policy\r\nhold all the same. Run it so? [y/N] ",
           .fix = fmt::format("run it at a terminal and say yes, or write the setting: "
                              "mkdir -p {0} && echo allowed > {0}/no-permission-check",
                              file.parent_path().string())});
      if (!said) return said;
      word = std::move(*said);
    }
  }
  auto tier = word_for_tier(lowest);
  if (!tier) return tier;
  return word.empty() ? tier : Result<std::string>(std::move(word));
}

Result<std::string> word_for_tier(sandbox::Tier lowest) {
  if (lowest <= accepted_tier(accepted_tier_file())) return std::string();
  const std::string tier = sandbox::to_string(lowest);
  return ask_for_word(
      {.option = "--min-tier " + tier,
       .question = fmt::format("mcpac: --min-tier {} accepts a weaker sandbox than you "
                               "accepted on this machine.\r\nRun it so? [y/N] ",
                               tier),
       .fix = fmt::format("run it at a terminal and say yes, or, for all runs: mcpac doctor "
                          "--accept-tier {}",
                          tier)});
}

}  // namespace mcpac::cli
