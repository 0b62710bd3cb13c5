// A program of the tests that works on files as any program does: <fstream> and <filesystem>.
#pragma once

#include <string>

#include "e2e/workspace.h"

namespace e2e {

// Built once a workspace, static and without a note: it may use all that is granted. Its words are
// read FILE, write FILE TEXT, list FOLDER, remove PATH, rename FROM TO, folder PATH, exists PATH,
// link TARGET PATH, mode PATH OCTAL, fill FILE MEGABYTES, stay, where; "+" begins the next.
// Each prints one line: what it found, or the error's name.
std::string file_program(const Workspace& workspace);

}  // namespace e2e
