// The JSON form of what the worker is asked.
#include "analyzer/form.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

Json to_json(const Request& request) {
  return {{"file", request.file},
          {"source_path", request.source_path},
          {"headers_dir", request.headers_dir},
          {"arguments", request.arguments},
          {"permissions", request.permissions}};
}

Result<Request> request_from_json(const Json& json) {
  Form form;
  form.expect_members(json, {"file", "source_path", "headers_dir", "arguments", "permissions"}, "");
  Request request;
  request.file = form.text(json, "file", "");
  request.source_path = form.text(json, "source_path", "");
  request.headers_dir = form.text(json, "headers_dir", "");
  for (const Json& item : form.list(json, "arguments", ""))
    request.arguments.push_back(form.text_value(item, "/arguments"));
  for (const auto& [name, item] : form.map(json, "permissions", "").items())
    request.permissions[name] = form.text_value(item, "/permissions");
  if (form.failed()) return form.error("the request to the analyzer");
  return request;
}

}  // namespace mcpac::analyzer
