// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/code_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "codegen/describe.h"
#include "codegen/search.h"
#include "codegen/select.h"
#include "codegen/signature.h"
#include "core/ids.h"
#include "core/json.h"
#include "gate/answer.h"
#include "gateway/call_of_client.h"
#include "gateway/code_mode/answers.h"
#include "gateway/code_mode/bounds.h"
#include "gateway/code_mode/client_upstream.h"
#include "gateway/code_mode/definitions.h"
#include "gateway/code_mode/granted_view.h"
#include "gateway/code_mode/program_caller.h"
#include "run/analyze_source.h"
#include "run/check/suggest_narrow.h"
#include "run/check/would_be_granted.h"
#include "servers/tool_tables.h"

namespace mcpac::gateway::code_mode {
namespace {

// Lookups: search_tools and describe_tools, over the tools that a client may call.

// `arguments` are those that the tool's schema lets through; the answers are structured contents.
[[nodiscard]] Json search(const GrantedView& view, const Json& arguments);
[[nodiscard]] Json describe(const GrantedView& view, const Json& arguments);

constexpr std::size_t kSummary = 200;

Json entry(const GrantedView& view, const codegen::ToolRef& ref) {
  Json json{{"name", ref.permission()},
            {"cpp", ref.tool->cpp_name},
            {"granted", Json::array()},
            {"conditional", true}};
  if (const auto permission = Permission::of(ref.server->name, ref.tool->name)) {
    const auto& granted = view.granted(*permission);
    json["granted"] = granted.rules;
    json["conditional"] = granted.is_conditional;
  }
  return json;
}

Json described(const GrantedView& view, const codegen::ToolRef& ref) {
  Json json = entry(view, ref);
  json["signature"] = gate::bounded(codegen::signature(*ref.server, *ref.tool), kMaxDeclaration);
  json["declaration"] =
      gate::bounded(codegen::declaration(*ref.server, *ref.tool), kMaxDeclaration);
  json["example"] = gate::bounded(codegen::example_call(*ref.server, *ref.tool), kMaxDeclaration);
  return json;
}

Json search(const GrantedView& view, const Json& arguments) {
  const auto limit = static_cast<std::size_t>(arguments.at("limit").get<double>());
  Json tools = Json::array();
  for (const auto& hit :
       codegen::search_tools(view.lock(), string_member(arguments, "query"), limit)) {
    Json json = entry(view, {hit.server, hit.tool});
    json["description"] = codegen::summary(*hit.tool, kSummary);
    tools.push_back(std::move(json));
  }
  return {{"tools", std::move(tools)}};
}

Json describe(const GrantedView& view, const Json& arguments) {
  Json tools = Json::array();
  Json unknown = Json::array();
  std::vector<codegen::ToolRef> known;
  for (const Json& name : arguments.at("names")) {
    const auto found = codegen::select_tools(view.lock(), name.get_ref<const std::string&>());
    if (found.empty()) unknown.push_back(name);
    for (const codegen::ToolRef& ref : found) {
      if (std::ranges::find(known, ref) != known.end()) continue;
      if (known.size() == kMaxDescribed) {
        unknown.push_back(name.get<std::string>() + " (more than can be described at once)");
        break;
      }
      known.push_back(ref);
    }
  }
  std::size_t bytes = 0;
  for (const codegen::ToolRef& ref : known) {
    Json json = described(view, ref);
    bytes += to_text(json).size();
    if (bytes > kMaxResult) {
      unknown.push_back(ref.permission() + " (too long beside the others: ask for it alone)");
      continue;
    }
    tools.push_back(std::move(json));
  }
  return {{"tools", std::move(tools)}, {"unknown", std::move(unknown)}};
}

}  // namespace

namespace {

// Name of the program in the report.
constexpr const char* kDisplay = "<agent>";

// Progress of one call, told from any thread.
class Progress {
 public:
  Progress(boost::asio::any_io_executor executor, std::shared_ptr<CallOfClient> call)
      : executor_(std::move(executor)), call_(std::move(call)) {}
  void tell(std::string text) {
    boost::asio::post(executor_, [call = call_, step = ++step_, text = std::move(text)] {
      call->progress({{"progress", step}, {"message", text}});
    });
  }

 private:
  boost::asio::any_io_executor executor_;
  std::shared_ptr<CallOfClient> call_;
  int step_ = 0;
};

const char* what_follows(std::string_view stage) {
  if (stage == "prepare") return "analysing";
  if (stage == "analyse") return "checking what it declares against what is granted";
  if (stage == "check") return "compiling";
  return stage == "compile" ? "running" : "ended";
}

Json failure(const Error& error) {
  return {{"exit_code", static_cast<int>(exit_code_of(error.id))}, {"error", error_member(error)}};
}

// Where the client asks for less than it may have.
run::RunLimits limits_of(const Json& arguments, run::RunLimits limits) {
  const Json* wanted = find_member(arguments, "limits");
  if (wanted == nullptr) return limits;
  const auto number = [&](const char* name) -> std::optional<double> {
    const Json* value = find_member(*wanted, name);
    return value == nullptr ? std::nullopt : std::optional(value->get<double>());
  };
  if (const auto seconds = number("timeout_s"))
    limits.wall = std::min(limits.wall,
                           std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000)));
  if (const auto bytes = number("memory_bytes"))
    limits.memory = std::min(limits.memory, static_cast<std::uint64_t>(*bytes));
  if (const auto bytes = number("output_bytes"))
    limits.output = std::min(limits.output, static_cast<std::uint64_t>(*bytes));
  return limits;
}

// Arguments of the program; the schema has admitted them.
Result<Json> arguments_of(const Json& arguments) {
  const Json* given = find_member(arguments, "arguments");
  if (given == nullptr) return Json::object();
  if (to_text(*given).size() <= run::kMaxArguments) return *given;
  return fail(ErrorId::kJsonLimit,
              fmt::format("the arguments are larger than {} bytes", run::kMaxArguments),
              {.where = "/arguments", .fix = "let the program get large data from a tool"});
}

Json suggestions_for(const analyzer::Report& report, const codegen::Lock& lock) {
  std::map<std::string, std::string> tags;
  for (const auto& server : lock.servers) {
    for (const auto& tool : server.tools) tags[server.name + "." + tool.name] = tool.cpp_name;
  }
  Json list = Json::array();
  for (const auto& one : run::suggestions(report, tags)) list.push_back(run::to_json(one));
  return list;
}

Result<Json> analyze_program(const Setup& setup, const std::string& text, Progress& progress,
                             StopSignal stop) {
  auto source = toolchain::source_from_text(text, kDisplay);
  if (!source) return pass_on(source);
  auto ready = setup.view->ready();
  if (!ready) return pass_on(ready);
  const GrantedView::Ready& own = **ready;
  progress.tell("analysing");
  auto report = run::analyze_source(
      own.project, own.lock, *setup.folders, *source, setup.offer.limits.lowest_tier,
      [&](const char* what) { progress.tell(what); }, stop);
  if (!report) return pass_on(report);
  Json answer{{"granted", false}};
  if (report->verdict == analyzer::Verdict::kOk) {
    const run::Listener quiet;
    auto granted = run::would_be_granted(own.project, *setup.lock, quiet, *report, setup.rules,
                                         run::DeniedUses::kRefuse, *setup.folders);
    if (!granted) return pass_on(granted);
    answer["granted"] = !granted->refusal.has_value();
    if (granted->refusal) answer["error"] = error_member(*granted->refusal);
  }
  answer["report"] = bounded_report(*report);
  answer["suggestions"] = suggestions_for(*report, own.lock);
  return answer;
}

// Inputs of one program's run, beside its client's.
struct ProgramRun {
  std::string source;
  Json arguments = Json::object();
  run::RunLimits limits;
  std::string run_id;
  std::shared_ptr<ClientUpstream> upstream;
};

Json run_program(const Setup& setup, const ProgramRun& program, Progress& progress,
                 StopSignal stop) {
  auto source = toolchain::source_from_text(program.source, kDisplay);
  if (!source) return failure(source.error());
  const auto ready = setup.view->ready();
  if (!ready) return failure(ready.error());
  const GrantedView::Ready& own = **ready;
  const auto schemas = servers::tool_schemas(*setup.lock);
  const run::DelegatedRun hosted{.host = *setup.host,
                                 .upstream = *program.upstream,
                                 .lock = own.lock,
                                 .schemas = schemas,
                                 .stop = stop,
                                 .run_id = program.run_id,
                                 .client_run = setup.client_run,
                                 .is_replay = setup.is_replay,
                                 .refusals = setup.refusals.get()};
  Said said;
  run::Listener listener;
  listener.stage = [&](const run::StageTime& stage) { progress.tell(what_follows(stage.name)); };
  listener.wait = [&](std::string_view what) { progress.tell(std::string(what)); };
  listener.warning = [&](std::string_view text) { said.warn(text); };
  listener.standard_output = [&](std::string_view piece) { said.standard_output(piece); };
  listener.standard_error = [&](std::string_view piece) { said.standard_error(piece); };
  listener.log = [&](std::string_view level, std::string_view text) { said.log(level, text); };
  progress.tell("preparing");
  const auto standby = setup.tools->take(own);
  const auto outcome = run::execute(own.project, *setup.folders,
                                    {.source = std::move(*source),
                                     .granted = setup.rules,
                                     .limits = program.limits,
                                     .standby = standby.get(),
                                     .arguments = program.arguments,
                                     .hosted = &hosted},
                                    listener);
  // What comes next is often like what came last: another new program, or the same one put right.
  const bool ran_to_its_end = !outcome.error || outcome.is_error_said;
  if (outcome.was_compiled && ran_to_its_end)
    setup.tools->prepare({*ready, outcome.servers, program.limits});
  else if (standby)
    setup.tools->prepare_again();
  return outcome_answer(outcome, said);
}

}  // namespace

CodeMode::CodeMode(Setup setup)
    : shared_(std::make_shared<const Setup>(std::move(setup))),
      definitions_(code_mode::definitions(shared_->offer.limits)) {
  for (const Json& tool : definitions_) {
    auto schema = JsonSchema::compile(tool.at("inputSchema"));
    if (schema) inputs_.emplace(tool.at("name").get<std::string>(), std::move(*schema));
  }
}

CodeMode::~CodeMode() {
  stop();
}

void CodeMode::stop() {
  shared_->programs->stop_of(shared_->client_run);
}

void CodeMode::heard_of_revocation(const std::string& permission) {
  if (!permission.empty() && permission != policy::kNetworkPermission) return;
  Setup less = *shared_;
  less.rules.places.emplace_back("deny network");
  if (permission.empty()) less.is_revoked = true;
  shared_ = std::make_shared<const Setup>(std::move(less));
  stop();
}

std::size_t CodeMode::in_flight() const {
  return shared_->programs->of_client(shared_->client_run);
}

void CodeMode::call(const std::string& name, const Json& arguments,
                    const std::shared_ptr<CallOfClient>& call) {
  const JsonSchema& schema = *inputs_.find(name)->second;
  Json complete = arguments;
  auto violation = schema.find_misnamed(arguments);
  if (!violation && !schema.fill_defaults(complete))
    violation = SchemaViolation{"", "limit", "leave out more than can be filled in with defaults"};
  if (!violation) violation = schema.validate(complete);
  if (violation)
    return call->answered(std::unexpected(gate::invalid_arguments(*violation, arguments)));
  if (name == kSearch) return call->answered(lookup_result(search(*shared_->view, complete)));
  if (name == kDescribe) return call->answered(lookup_result(describe(*shared_->view, complete)));
  name == kAnalyze ? analyze(complete, call) : execute(complete, call);
}

void CodeMode::analyze(const Json& arguments, const std::shared_ptr<CallOfClient>& call) {
  auto work = [shared = shared_, source = arguments.at("source").get<std::string>(),
               progress =
                   Progress(shared_->host->executor(), call)](StopSignal stop) mutable -> Json {
    auto answer = analyze_program(*shared, source, progress, stop);
    return answer ? std::move(*answer)
                  : Json{{"granted", false}, {"error", error_member(answer.error())}};
  };
  auto started =
      shared_->programs->start(shared_->client_run, std::move(work), [call](Json answer) {
        const bool is_error = !answer.contains("report");
        if (is_error) answer["granted"] = false;
        call->answered(program_result(std::move(answer), is_error));
      });
  if (!started) {
    Json busy{{"granted", false}, {"error", error_member(started.error())}};
    return call->answered(program_result(std::move(busy), true));
  }
  call->taken_back_by([shared = shared_, id = *started] { shared->programs->stop(id); });
}

void CodeMode::execute(const Json& arguments, const std::shared_ptr<CallOfClient>& call) {
  if (shared_->is_revoked) return call->answered(std::unexpected(gate::revoked(kExecute)));
  auto given = arguments_of(arguments);
  if (!given) return call->answered(program_result(failure(given.error()), true));
  const auto& executor = shared_->host->executor();
  const std::string run_id = new_uuid_v7(*shared_->clock);
  // What servers ask is recorded with the program's call, since the client's own is none of its
  // gate's.
  const auto caller = std::make_shared<ProgramCaller>(
      call, executor, [call](gate::Gate::CallId about) { call->set_gate_id(about); });
  const auto upstream = std::make_shared<ClientUpstream>(
      executor, *shared_->gate, *shared_->servers, caller, run_id, shared_->tracer);
  ProgramRun program{.source = arguments.at("source").get<std::string>(),
                     .arguments = std::move(*given),
                     .limits = limits_of(arguments, shared_->offer.limits),
                     .run_id = run_id,
                     .upstream = upstream};
  auto work = [shared = shared_, program = std::move(program),
               progress = Progress(executor, call)](StopSignal stop) mutable -> Json {
    return run_program(*shared, program, progress, stop);
  };
  // The last hold of the upstream is here, so that it goes where it lives.
  auto started =
      shared_->programs->start(shared_->client_run, std::move(work), [call, upstream](Json answer) {
        if (!upstream->denials().empty()) answer["denials"] = upstream->denials();
        // Of a fault of ours there is no more than the error.
        if (!answer.contains("exit_code"))
          answer["exit_code"] = static_cast<int>(ExitCode::kInternal);
        const bool is_error = answer.contains("error") || answer.at("exit_code") != 0;
        call->answered(program_result(std::move(answer), is_error));
      });
  if (!started) return call->answered(program_result(failure(started.error()), true));
  call->taken_back_by([shared = shared_, id = *started] { shared->programs->stop(id); });
}

}  // namespace mcpac::gateway::code_mode
