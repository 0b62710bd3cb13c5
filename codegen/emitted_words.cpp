#include "codegen/emitted_words.h"

namespace mcpac::codegen {

const std::set<std::string>& tool_words() {
  static const std::set<std::string> words{"server_tag", "Args", "Result", "server", "name"};
  return words;
}
const std::set<std::string>& field_words() {
  static const std::set<std::string> words{"Args", "Result"};
  return words;
}
const std::set<std::string>& type_words() {
  static const std::set<std::string> words{"Args", "Result"};
  return words;
}
const std::set<std::string>& enumerator_words() {
  static const std::set<std::string> words{};
  return words;
}

}  // namespace mcpac::codegen
