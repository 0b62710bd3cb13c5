// SPDX-License-Identifier: Apache-2.0

// Shell commands: the parts of a command line that act below the folders it names, and the folders
// that its words count from.
//
// A net and no shell: what is not certainly understood counts as going below, and a folder that may
// be entered is a start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::policy {

// What a command does with a folder that one of its words names.
enum class FolderUse : std::uint8_t {
  kWalked,   // it may read, move or delete what is in it
  kEntered,  // "cd X", beside commands that may go below where they start
  kEntry,    // it acts on the entry, lists names, or takes the word for none: `df /`, `awk -F/`
};

struct CommandPart {
  std::string_view text;
  FolderUse use = FolderUse::kWalked;
};

// The simple commands of a line that do more than act on entries; what is in none of them acts on
// entries alone. One part with all of the text where the line is not plainly understood: with
// substitutions, here-documents, loops, or what runs the words of others (xargs, eval).
[[nodiscard]] std::vector<CommandPart> parts_beyond_entries(std::string_view text);

// The line with ":" for the words that are told or left out and name nothing that is opened, where
// it is plainly understood and nothing in it may run them: behind -m, --title and the like of git,
// forges and test runners, the tests of a "find" that lists, what "echo" adds to a .gitignore; and
// with "source" for the command ".".
[[nodiscard]] std::string without_prose(std::string_view text);

// More folders than a line of commands enters.
constexpr std::size_t kMostEntered = 32;

// Folders that commands are told to start in, in their order, at most one more than kMostEntered:
// behind "cd", "pushd", "-C",
// "--directory", "--git-dir" and the like; the home ("~") for a bare "cd".
[[nodiscard]] std::vector<std::string> entered_folders(std::string_view text);
// Whether the word behind this one is such a folder: "-C", "--directory".
[[nodiscard]] bool precedes_folder(std::string_view word);

}  // namespace mcpac::policy
