#include "execute/host/server_form.h"

#include <algorithm>
#include <array>

#include "core/printable.h"

namespace mcpac::execute {
namespace {

// Of each further line, so that none passes for one of ours.
constexpr std::string_view kSetIn = "  ";

std::string form_beginning(std::string_view server) {
  return "[" + std::string(server) + "] ";
}

std::string its_words(std::string_view message) {
  std::string words;
  for (const char c : printable_lines(message)) {
    words += c;
    if (c == '\n') words += kSetIn;
  }
  return words;
}

bool is_message(std::string_view server, std::string_view message) {
  if (!message.starts_with(form_beginning(server)) || printable_lines(message) != message)
    return false;
  for (auto at = message.find('\n'); at != std::string_view::npos;
       at = message.find('\n', at + 1)) {
    if (!message.substr(at + 1).starts_with(kSetIn)) return false;
  }
  return true;
}

std::string one_line(std::string_view text) {
  return printable(text, text.size());
}

// Members that are read and that no answer repeats.
bool is_only_read(std::string_view member) {
  constexpr std::array<std::string_view, 3> kRead{"title", "description", "enumNames"};
  return std::ranges::find(kRead, member) != kRead.end();
}

// Makes a part of a form's schema fit to be shown. False: what an answer repeats is not.
// `is_read`: it is only read. `names`: what stands here are the names of fields.
bool make_fit(Json& part, bool is_read, bool names = false) {
  if (part.is_string()) {
    std::string& text = part.get_ref<std::string&>();
    const std::string fit = one_line(text);
    if (!is_read) return fit == text;
    text = fit;
  } else if (part.is_array()) {
    for (Json& element : part) {
      if (!make_fit(element, is_read)) return false;
    }
  } else if (part.is_object()) {
    for (auto& [name, member] : part.get_ref<Json::object_t&>()) {
      if (one_line(name) != name) return false;
      if (!make_fit(member, !names && is_only_read(name), !names && name == "properties"))
        return false;
    }
  }
  return true;
}

}  // namespace

Result<Json> shown_form(std::string_view server, const Json& params) {
  const Json* mode = find_member(params, "mode");
  if (mode != nullptr && *mode != "form")
    return fail(ErrorId::kServerError, "nobody is shown an address of a server's");
  const Json* message = find_member(params, "message");
  if (message == nullptr || !message->is_string())
    return fail(ErrorId::kServerError, "a form has no text that says what it is about");
  Json form{
      {"message", form_beginning(server) + its_words(message->get_ref<const std::string&>())}};
  if (mode != nullptr) form["mode"] = *mode;
  if (const Json* schema = find_member(params, "requestedSchema"); schema != nullptr) {
    form["requestedSchema"] = *schema;
    if (!make_fit(form["requestedSchema"], false))
      return fail(ErrorId::kServerError, "a form has a field or a choice that cannot be shown");
  }
  return form;
}

bool is_shown_form(std::string_view server, const Json& form) {
  if (!is_message(server, string_member(form, "message"))) return false;
  auto again = shown_form(server, form);
  if (!again) return false;
  (*again)["message"] = form["message"];
  return *again == form;
}

}  // namespace mcpac::execute
