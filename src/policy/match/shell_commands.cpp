// SPDX-License-Identifier: Apache-2.0

#include "policy/match/shell_commands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "core/ascii.h"

namespace mcpac::policy {
namespace {

// Of a word in the line, quotes and all.
struct WordPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct SimpleCommand {
  std::vector<std::string> words;
  std::vector<WordPlace> places;  // of the words
  std::string target;             // what output goes to, at last
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t pipeline = 0;
  bool writes_file = false;  // ">x", but not "/dev/null" and "&2"
};

// A line by its simple commands, quotes and backslashes taken off.
class CommandLine {
 public:
  explicit CommandLine(std::string_view text) : text_(text) { read(); }

  std::vector<SimpleCommand> commands;
  // Where something begins that is not followed here: a substitution, a here-document, a
  // definition.
  std::size_t clear_until = std::string_view::npos;
  [[nodiscard]] bool is_unclear() const { return clear_until != std::string_view::npos; }

 private:
  void read() {
    for (at_ = 0; at_ < text_.size(); ++at_) read_one(text_[at_]);
    // A line without an end of its quotes is not run; of several, others may be.
    if (quote_ != '\0' && text_.contains('\n')) blur();
    end_command(text_.size());
  }

  void blur() { clear_until = std::min(clear_until, at_); }
  [[nodiscard]] char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void read_one(char c) {
    if (!has_word_) word_begin_ = at_;
    if (quote_ != '\'' && (c == '`' || (c == '$' && std::string_view("({'").contains(next()))))
      blur();
    if (quote_ != '\0' && c == quote_) {
      quote_ = '\0';
    } else if (c == '\\' && quote_ != '\'' && at_ + 1 < text_.size()) {
      if (text_[++at_] != '\n') take(text_[at_]);
    } else if (quote_ != '\0') {
      take(c);
    } else if (c == '"' || c == '\'') {
      quote_ = c;
      has_word_ = true;
    } else if (c == '#' && !has_word_) {
      while (at_ + 1 < text_.size() && next() != '\n') ++at_;
    } else if (c == '>' || c == '<') {
      read_redirection(c);
    } else if (c == '\n' || std::string_view(";&|()`").contains(c)) {
      read_separator(c);
    } else if (static_cast<unsigned char>(c) <= 0x20) {
      end_word();
    } else {
      take(c);
    }
  }

  void read_redirection(char c) {
    end_word();
    if (next() == '(' || (c == '<' && next() == '<')) blur();
    if (next() == '&' || next() == '>') ++at_;
    is_target_ = c == '>';
  }

  void read_separator(char c) {
    if (c == '&' && next() == '>') return;  // "&>x"
    if (c == '(' && has_word_) blur();
    const bool is_pipe = c == '|' && next() != '|';
    end_command(at_);
    if (next() == c || (is_pipe && next() == '&')) ++at_;
    begin_ = at_ + 1;
    if (!is_pipe) ++pipeline_;
  }

  void take(char c) {
    word_ += c;
    has_word_ = true;
  }

  void end_word() {
    if (!has_word_) return;
    const bool is_number = !word_.empty() && std::ranges::all_of(word_, is_digit);
    const bool is_target = std::exchange(is_target_, false);
    if (is_target) command_.target = word_;
    if (is_target && word_ != "/dev/null" && !is_number) command_.writes_file = true;
    command_.places.push_back({word_begin_, std::min(at_, text_.size())});
    command_.words.push_back(std::move(word_));
    word_.clear();
    has_word_ = false;
  }

  void end_command(std::size_t end) {
    end_word();
    is_target_ = false;
    if (!command_.words.empty()) {
      command_.begin = begin_;
      command_.end = end;
      command_.pipeline = pipeline_;
      commands.push_back(std::move(command_));
    }
    command_ = {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  std::size_t word_begin_ = 0;
  std::size_t pipeline_ = 0;
  char quote_ = '\0';
  bool has_word_ = false;   // also an empty one, in quotes
  bool is_target_ = false;  // the next word is what output goes to
  std::string word_;
  SimpleCommand command_;
};

// Commands that act on the entries that their words name, or only on what they are fed.
struct EntryCommand {
  std::string_view name;
  std::string_view letters = {};  // of short options with which they do more
  std::string_view longs = {};    // first letters of such long options
  bool lists = false;             // names of what is below, which others may be told to open
};
constexpr std::array<EntryCommand, 46> kEntryCommands = {{
    {"["},
    {"basename"},
    {"cat", "rR", "r"},
    {"cut"},
    {"date"},
    {"df"},
    {"dirname"},
    {"echo"},
    {"egrep", "rRdf", "rdf"},
    {"else"},
    {"elif"},
    {"false"},
    {"fgrep", "rRdf", "rdf"},
    {"fi"},
    {"file", "f", "f"},
    {"grep", "rRdf", "rdf"},
    {"head"},
    {"hostname"},
    {"id"},
    {"jq", "f", "f"},
    {"ls", "R", "r", true},
    {"mkdir"},
    {"printf"},
    {"ps"},
    {"pwd"},
    {"readlink"},
    {"realpath"},
    {"rmdir"},
    {"sleep"},
    {"sort", "", "fc"},
    {"stat"},
    {"tail"},
    {"test"},
    {"then"},
    {"touch"},
    {"tr"},
    {"true"},
    {"type"},
    {"uname"},
    {"uniq"},
    {"wc", "", "f"},
    {"which"},
    {"whoami"},
    {"du", "", "f", true},
    {"find", "", "", true},
    {"tree", "", "f", true},
}};
// Of git: what works on the repository that is there, with a folder or without one.
constexpr std::array<std::string_view, 9> kGitCommands = {"add",      "status",    "log",
                                                          "commit",   "rev-parse", "check-ignore",
                                                          "ls-files", "branch",    "describe"};
// Run, or define, what others say.
constexpr std::array<std::string_view, 20> kRunners = {
    "xargs",   "parallel", "eval",      "source",   ".",    "exec",  "read",
    "mapfile", "alias",    "readarray", "function", "for",  "while", "until",
    "case",    "select",   "trap",      "coproc",   "hash", "enable"};

bool is_among(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

// "LC_ALL=C df /": that do not say what a command is, or does.
bool is_harmless_setting(std::string_view word) {
  const auto equal = word.find('=');
  if (equal == std::string_view::npos) return false;
  const auto name = word.substr(0, equal);
  return name.starts_with("LC_") || name == "LANG" || name == "TZ" || name == "NO_COLOR";
}

// What is run, behind settings and words that run it as it is; nothing: not known.
std::span<const std::string> run_by(const SimpleCommand& command) {
  constexpr std::array<std::string_view, 11> kBefore = {
      "sudo", "time", "command", "nohup", "if", "then", "else", "elif", "!", "{", "do"};
  std::span<const std::string> words = command.words;
  while (words.size() > 1 &&
         (is_harmless_setting(words.front()) || is_among(words.front(), kBefore)))
    words = words.subspan(1);
  return words;
}

std::string_view program_name(std::string_view word) {
  for (const std::string_view folder : {"/bin/", "/usr/bin/", "/usr/local/bin/"}) {
    if (word.starts_with(folder)) return word.substr(folder.size());
  }
  return word;
}

bool has_option_among(std::string_view word, std::string_view letters, std::string_view longs) {
  if (word.starts_with("--")) return word.size() > 2 && longs.contains(word[2]);
  return word.starts_with('-') && word.find_first_of(letters) != std::string_view::npos;
}

bool enters(std::string_view name) {
  return name == "cd" || name == "pushd" || name == "popd" || name == "chdir";
}

// A program of awk that runs nothing and opens nothing but what is named.
bool is_plain_awk(std::string_view word) {
  constexpr std::array<std::string_view, 4> kMore = {"system", "getline", "|", "@"};
  return !has_option_among(word, "f", "fe") &&
         std::ranges::none_of(kMore, [&](std::string_view more) { return word.contains(more); });
}

bool is_plain_sed(std::string_view word) {
  return !has_option_among(word, "f", "f") && word.find_first_of(" \t\n") == std::string_view::npos;
}

bool is_plain_find(std::string_view word) {
  constexpr std::array<std::string_view, 6> kMore = {"-exec",   "-ok",  "-delete",
                                                     "-fprint", "-fls", "-files0"};
  return std::ranges::none_of(kMore, [&](std::string_view more) { return word.starts_with(more); });
}

bool is_plain_git(std::span<const std::string> words) {
  std::size_t at = 1;
  while (at + 1 < words.size() && words[at] == "-C") at += 2;
  return at < words.size() && is_among(words[at], kGitCommands);
}

struct Known {
  bool is_known = false;
  bool enters = false;
  bool lists = false;
  bool runs_fed = false;  // what it is fed may be what it runs
};

Known known(const SimpleCommand& command) {
  const auto words = run_by(command);
  const auto name = program_name(words.front());
  const auto all = [&](auto&& test) { return std::ranges::all_of(words.subspan(1), test); };
  if (enters(name)) return {.is_known = true, .enters = true};
  if (name == "git") return {.is_known = is_plain_git(words)};
  if (name == "awk" || name == "gawk" || name == "mawk") return {.is_known = all(is_plain_awk)};
  if (name == "sed") return {.is_known = all(is_plain_sed), .runs_fed = true};
  const auto* const found = std::ranges::find(kEntryCommands, name, &EntryCommand::name);
  if (found == kEntryCommands.end() || (name == "find" && !all(is_plain_find))) return {};
  const bool does_more = std::ranges::any_of(words.subspan(1), [&](std::string_view word) {
    return has_option_among(word, found->letters, found->longs);
  });
  return {.is_known = !does_more, .lists = found->lists};
}

// Also what has other programs found by the names of these.
bool runs_others(const SimpleCommand& command) {
  const bool sets_path = std::ranges::any_of(command.words, [](std::string_view word) {
    return word.starts_with("PATH=") || word.starts_with("LD_");
  });
  if (sets_path) return true;
  const auto name = program_name(run_by(command).front());
  return is_among(name, kRunners) || is_among(command.words.front(), kRunners);
}

std::string_view text_of(std::string_view text, const SimpleCommand& command) {
  return text.substr(command.begin, command.end - command.begin);
}

// Of a line that is not plainly understood: the folder that it enters at first, and the rest.
std::vector<CommandPart> entered_and_rest(std::string_view text, const CommandLine& line) {
  if (line.commands.empty()) return {{text}};
  const auto& first = line.commands.front();
  const bool is_clear = first.end < line.clear_until && first.words.size() == 2;
  if (!is_clear || first.words.front() != "cd") return {{text}};
  return {{text_of(text, first), FolderUse::kEntered}, {text.substr(first.end)}};
}

// What a program is told with words that it only keeps or prints: options and their values.
bool takes_prose(std::span<const std::string> words, std::string_view option) {
  constexpr std::array<std::string_view, 6> kKeeping = {"commit", "tag",   "merge",
                                                        "stash",  "notes", "revert"};
  constexpr std::array<std::string_view, 4> kForges = {"gh", "glab", "hub", "tea"};
  constexpr std::array<std::string_view, 4> kOfForges = {"pr", "issue", "release", "mr"};
  constexpr std::array<std::string_view, 7> kTold = {"-m", "--message", "-t",     "--title",
                                                     "-b", "--body",    "--notes"};
  constexpr std::array<std::string_view, 4> kRunning = {"npm", "yarn", "pnpm", "bun"};
  constexpr std::array<std::string_view, 6> kTesting = {"test",   "t",     "run",
                                                        "vitest", "mocha", "jest"};
  constexpr std::array<std::string_view, 4> kNames = {"-t", "-g", "--grep", "--testNamePattern"};
  const std::string_view name = program_name(words.front());
  const std::string_view second = words.size() > 1 ? std::string_view(words[1]) : "";
  if (name == "git") {
    std::size_t at = 1;
    while (at + 1 < words.size() && words[at] == "-C") at += 2;
    const bool is_short = option.size() > 1 && option.ends_with('m') &&
                          std::ranges::all_of(option.substr(1), is_letter);
    return at < words.size() && is_among(words[at], kKeeping) &&
           ((option.starts_with('-') && is_short) || option == "--message");
  }
  if (is_among(name, kForges)) return is_among(second, kOfForges) && is_among(option, kTold);
  const bool runs_tests = is_among(name, std::span(kTesting).subspan(3)) ||
                          (is_among(name, kRunning) && is_among(second, kTesting)) ||
                          (name == "npx" && is_among(second, std::span(kTesting).subspan(3)));
  return runs_tests && is_among(option, kNames);
}

bool may_take_prose(const SimpleCommand& command) {
  const auto words = run_by(command);
  return takes_prose(words, "-m") || takes_prose(words, "-t");
}

// The words of a command that are told and name nothing to it, by their places in the line.
class Told {
 public:
  Told(const SimpleCommand& command, bool all_known) : command_(command) {
    const auto words = run_by(command);
    first_ = command.words.size() - words.size();
    add_prose(words);
    const auto name = program_name(words.front());
    if (all_known && name == "find") add_tests();
    if (all_known && (name == "echo" || name == "printf") && command.target.ends_with("ignore"))
      add_lines();
  }
  std::vector<WordPlace> places;

 private:
  void add_prose(std::span<const std::string> words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (!word.contains(' ') && !word.contains('\n')) continue;
      const bool is_long = word.starts_with("--") && word.contains('=');
      const auto option = is_long ? word.substr(0, word.find('=')) : std::string_view(words[i - 1]);
      if (takes_prose(words, option)) places.push_back(command_.places[first_ + i]);
    }
  }

  // Patterns of what "find" lists, and names of what it leaves out.
  void add_tests() {
    constexpr std::array<std::string_view, 8> kTests = {
        "-path", "-name", "-iname", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"};
    const auto& words = command_.words;
    for (std::size_t i = first_ + 2; i < words.size(); ++i) {
      if (!is_among(words[i - 1], kTests)) continue;
      const bool is_left_out = words[i - 2] == "-not" || words[i - 2] == "!" ||
                               (i + 1 < words.size() && words[i + 1] == "-prune");
      if (is_left_out || words[i].find_first_of("*?[") != std::string::npos)
        places.push_back(command_.places[i]);
    }
  }

  // What is written into a list of what is left out.
  void add_lines() {
    for (std::size_t i = first_ + 1; i < command_.words.size(); ++i) {
      const auto& word = command_.words[i];
      if (word != command_.target && word.find_first_of("*?[{~$") == std::string::npos)
        places.push_back(command_.places[i]);
    }
  }

  const SimpleCommand& command_;
  std::size_t first_ = 0;
};

// What follows "--directory=" in one word; empty where it is none of these.
std::string_view set_folder(std::string_view word) {
  const auto equal = word.find('=');
  if (equal == std::string_view::npos || !precedes_folder(word.substr(0, equal))) return {};
  return word.substr(equal + 1);
}

void add_entered(std::string_view text, std::vector<std::string>& found) {
  const auto add = [&](std::string_view folder) {
    if (!folder.empty() && found.size() <= kMostEntered) found.emplace_back(folder);
  };
  for (const auto& command : CommandLine(text).commands) {
    const auto& words = command.words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (enters(word)) {
        std::size_t next = i + 1;
        while (next < words.size() && words[next].starts_with('-')) ++next;
        add(next < words.size() ? std::string_view(words[next]) : "~");
      } else if (precedes_folder(word) && i + 1 < words.size()) {
        add(words[i + 1]);
      } else if (word.starts_with("-C") && word.size() > 2) {
        add(word.substr(2));
      } else {
        add(set_folder(word));
      }
    }
  }
}

}  // namespace

std::vector<CommandPart> parts_beyond_entries(std::string_view text) {
  const CommandLine line(text);
  const auto& commands = line.commands;
  if (line.is_unclear() || std::ranges::any_of(commands, runs_others))
    return entered_and_rest(text, line);
  std::vector<Known> all;
  std::vector<bool> has_known_pipeline;
  for (const auto& command : commands) {
    all.push_back(known(command));
    has_known_pipeline.resize(command.pipeline + 1, true);
    const bool is_fed = all.size() > 1 && commands[all.size() - 2].pipeline == command.pipeline;
    if (!all.back().is_known || (is_fed && all.back().runs_fed))
      has_known_pipeline[command.pipeline] = false;
  }
  const bool all_known = std::ranges::all_of(all, &Known::is_known);
  std::vector<CommandPart> parts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool feeds_others = all[i].lists || commands[i].writes_file;
    const bool stays = has_known_pipeline[commands[i].pipeline] && (all_known || !feeds_others);
    if (stays && (all_known || !all[i].enters)) continue;
    parts.push_back({text_of(text, commands[i]), stays ? FolderUse::kEntered : FolderUse::kWalked});
  }
  return parts;
}

std::string without_prose(std::string_view text) {
  const CommandLine line(text);
  const auto& commands = line.commands;
  if (line.is_unclear()) return std::string(text);
  const auto is_known = [&](const SimpleCommand& command) {
    const Known found = known(command);
    const bool reads_list = std::ranges::any_of(
        command.words, [](std::string_view word) { return word.contains("-from-file"); });
    return found.is_known && !found.runs_fed && !reads_list;
  };
  const bool runs = std::ranges::any_of(commands, runs_others);
  const bool all_known = !runs && std::ranges::all_of(commands, is_known);
  // What comes later may run what it finds in a message.
  std::size_t told_from = commands.size();
  while (!runs && told_from > 0 &&
         (is_known(commands[told_from - 1]) || may_take_prose(commands[told_from - 1])))
    --told_from;
  std::string said;
  std::size_t at = 0;
  const auto put = [&](const WordPlace& place, std::string_view instead) {
    said.append(text.substr(at, place.begin - at)).append(instead);
    at = place.end;
  };
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto& command = commands[i];
    if (command.words.size() > 1 && command.words.front() == ".")
      put(command.places.front(), "source");
    if (i < told_from) continue;
    for (const auto& place : Told(command, all_known).places) put(place, ":");
  }
  return said.append(text.substr(at));
}

bool precedes_folder(std::string_view word) {
  constexpr std::array<std::string_view, 9> kOptions = {"-C",        "--directory", "--chdir",
                                                        "--git-dir", "--work-tree", "--cwd",
                                                        "--prefix",  "--root",      "--basedir"};
  return is_among(word, kOptions);
}

std::vector<std::string> entered_folders(std::string_view text) {
  std::vector<std::string> found;
  add_entered(text, found);
  if (!text.contains('\n') || text.find_first_of("'\"") == std::string_view::npos) return found;
  // An apostrophe in a comment or a here-document opens no quotes.
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    add_entered(text.substr(0, end), found);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

}  // namespace mcpac::policy
