// A program of the tests that works on files as any program does: <fstream> and <filesystem>.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "e2e/workspace.h"

namespace e2e {

// Built once a workspace, static and without a note: it may use all that is granted. Its words are
// read FILE, write FILE TEXT, list FOLDER, remove PATH, rename FROM TO, folder PATH, exists PATH,
// link TARGET PATH, mode PATH OCTAL, fill FILE MEGABYTES, race FOLDER OWN OTHER NAME COUNT, stay,
// where; "+" begins the next.
// Each prints one line: what it found, or the error's name.
std::string file_program(const Workspace& workspace);

// A folder of the shared fixture's workspace for one case, empty at first and gone at the end; and
// the program.
struct FilePlace {
  Workspace& workspace = Workspace::shared_fixture();
  std::string program = file_program(workspace);
  std::filesystem::path folder;

  explicit FilePlace(const std::string& name) : folder(workspace.folder() / name) {
    std::filesystem::remove_all(folder);
  }
  ~FilePlace() { std::filesystem::remove_all(folder); }
  FilePlace(const FilePlace&) = delete;
  FilePlace& operator=(const FilePlace&) = delete;
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream file(folder / name);
    return file ? std::string(std::istreambuf_iterator<char>(file), {}) : "absent";
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (folder / name).string(); }
  // `mcpac run OPTIONS -- program WORDS`
  [[nodiscard]] Outcome run_with(std::vector<std::string> options,
                                 const std::vector<std::string>& words) const {
    options.insert(options.begin(), "run");
    options.emplace_back("--");
    options.push_back(program);
    options.insert(options.end(), words.begin(), words.end());
    return workspace.mcpac(std::move(options));
  }
};

}  // namespace e2e
