// The JSON form of what the worker is asked.
#include "analyzer/form.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

Json to_json(const Request& request) {
  Json further = Json::array();
  for (const SourceFile& source : request.further)
    further.push_back({{"file", source.file}, {"source_path", source.source_path}});
  return {{"file", request.file},
          {"source_path", request.source_path},
          {"further", std::move(further)},
          {"source_dir", request.source_dir},
          {"headers_dir", request.headers_dir},
          {"arguments", request.arguments},
          {"permissions", request.permissions}};
}

Result<Request> request_from_json(const Json& json) {
  Form form;
  form.expect_members(
      json,
      {"file", "source_path", "further", "source_dir", "headers_dir", "arguments", "permissions"},
      "");
  Request request;
  request.file = form.text(json, "file", "");
  request.source_path = form.text(json, "source_path", "");
  request.source_dir = form.text(json, "source_dir", "");
  for (const Json& item : form.list(json, "further", "")) {
    form.expect_members(item, {"file", "source_path"}, "/further");
    request.further.push_back(
        {form.text(item, "file", "/further"), form.text(item, "source_path", "/further")});
  }
  request.headers_dir = form.text(json, "headers_dir", "");
  for (const Json& item : form.list(json, "arguments", ""))
    request.arguments.push_back(form.text_value(item, "/arguments"));
  for (const auto& [name, item] : form.map(json, "permissions", "").items())
    request.permissions[name] = form.text_value(item, "/permissions");
  if (form.failed()) return form.error("the request to the analyzer");
  return request;
}

}  // namespace mcpac::analyzer
