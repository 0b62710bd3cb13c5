// SPDX-License-Identifier: Apache-2.0

#include "servers/server_form.h"

#include <algorithm>

#include "core/characters.h"
#include "core/printable.h"

namespace mcpac::servers {
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

// Of what stays as it is, blanks at its end included.
bool is_one_line(std::string_view text) {
  return !has_invisible(text);
}

// Purpose of a text in a form's schema.
enum class Use : std::uint8_t {
  kRead,    // to be read alone: it is made fit
  kTyped,   // stands where a person types, and may have several lines
  kRepeat,  // an answer repeats it
};

Use use_of(std::string_view member) {
  if (member == "title" || member == "description" || member == "enumNames") return Use::kRead;
  return member == "default" ? Use::kTyped : Use::kRepeat;
}

bool make_fit(std::string& text, Use use) {
  if (use == Use::kTyped) return printable_lines(text) == text;
  if (use == Use::kRepeat) return is_one_line(text);
  text = printable_prose(text, std::string::npos);
  return true;
}

// Makes a part of a form's schema fit to be shown. False: what has to stay as it is cannot be.
// `has_fields`: its members are fields, with names of the server's.
bool make_fit(Json& part, Use use, bool has_fields = false) {
  if (part.is_string()) return make_fit(part.get_ref<std::string&>(), use);
  if (part.is_array())
    return std::ranges::all_of(part, [use](Json& element) { return make_fit(element, use); });
  if (!part.is_object()) return true;
  return std::ranges::all_of(part.get_ref<Json::object_t&>(), [has_fields](auto& member) {
    auto& [name, value] = member;
    if (!is_one_line(name)) return false;
    return has_fields ? make_fit(value, Use::kRepeat)
                      : make_fit(value, use_of(name), name == "properties");
  });
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
    if (!make_fit(form["requestedSchema"], Use::kRepeat))
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

}  // namespace mcpac::servers
