// Authority that grows unseen, through the real binary: what is advised, switched off, answered and
// recorded gives no more than its reader saw.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "e2e/workspace.h"

namespace fs = std::filesystem;
using e2e::has;
using e2e::Workspace;
using mcpac::Json;

namespace {

const std::string kRead = "filesystem.read_text_file";
const std::string kWithin = kRead + "(path within ./data)";

// A program whose entry holds the tool `tag`, with this body.
std::string granted_program(const std::string& body,
                            const std::string& tag = "filesystem::read_text_file",
                            const std::string& before = "") {
  return fmt::format(
      "#include <mcpac.hpp>\n#include <print>\nusing namespace mcp;\n{}\n"
      "int agent_main(mcpac::Requires<{}> rt) {{\n  {}\n  return 0;\n}}\n",
      before, tag, body);
}

std::string try_read(const std::string& arguments) {
  return fmt::format(
      "std::string p = \"da\"; p += \"ta\"; double h = 4; h += 1; (void)h;\n  auto got = "
      "rt.filesystem.read_text_file.try_call({{{}}});\n"
      "  std::println(\"{{}}\", got ? \"read\" : \"denied\");",
      arguments);
}

// What stands behind the last "fix: --grant '" of a text, up to its quote.
std::string grant_in(const std::string& text) {
  const std::string before = "fix: --grant '";
  const auto at = text.rfind(before);
  if (at == std::string::npos) return {};
  const auto end = text.find('\'', at + before.size());
  return text.substr(at + before.size(), end - at - before.size());
}

// The calls that the rules admit with the fix and do not without, as `policy diff` shows them.
Json more_with(const Workspace& workspace, const std::string& grant, const std::string& fix) {
  workspace.write("before.rules", grant.empty() ? "" : "allow " + grant + "\n");
  workspace.write("after.rules",
                  (grant.empty() ? "" : "allow " + grant + "\n") + "allow " + fix + "\n");
  const auto diff = workspace.mcpac({"policy", "diff", "--json", "before.rules", "after.rules"});
  INFO(diff.out << diff.err);
  CHECK(diff.exit_code == 77);
  return diff.json().at("more");
}

std::vector<Json> recorded_events(const Workspace& workspace,
                                  const std::vector<std::string>& more) {
  std::vector<std::string> words{"audit", "list", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<Json> found;
  for (const Json& event : workspace.mcpac(words).json()) found.push_back(event);
  return found;
}

}  // namespace

TEST_SUITE("e2e/authority") {
  TEST_CASE("the fix of a missing argument keeps the path of the user's rule, and is this call") {
    auto& workspace = Workspace::shared();
    const auto run =
        workspace.execute(granted_program(try_read(".path = p + \"/a.txt\", .head = h")), kWithin);
    INFO(run.err);
    CHECK(has(run.out, "denied"));
    const std::string fix = grant_in(run.err);
    CHECK(has(fix, "(head == 5"));
    CHECK(has(fix, ", path == \"data/a.txt\" within ./data)"));
    const Json more = more_with(workspace, kWithin, fix);
    REQUIRE(more.size() == 1);
    CHECK(more[0].at("call") == Json{{"path", "data/a.txt"}, {"head", 5}});
    const auto pasted = workspace.execute(
        granted_program(try_read(".path = p + \"/a.txt\", .head = h")), kWithin, {"--grant", fix});
    CHECK(has(pasted.out, "read"));
    // The same before the run, where the constants are known.
    const auto known = workspace.execute(
        granted_program("rt.filesystem.read_text_file({.path = \"data/a.txt\", .head = 5});"),
        kWithin);
    CHECK(known.exit_code == 77);
    CHECK(has(known.err, "head == 5, path == \"data/a.txt\" within ./data"));
    CHECK_FALSE(has(known.err, "path any"));
  }

  TEST_CASE("a link that leads out of an allowed folder gets no grant, and it is said why") {
    auto& workspace = Workspace::shared();
    fs::remove(workspace.folder() / "data/leads-out");
    fs::create_symlink("/etc", workspace.folder() / "data/leads-out");
    const auto run = workspace.execute(
        granted_program(try_read(".path = p + \"/leads-out/hostname\"")), kWithin);
    fs::remove(workspace.folder() / "data/leads-out");
    INFO(run.err);
    CHECK(has(run.out, "denied"));
    CHECK(
        has(run.err, "no --grant is suggested: path leaves what `within ./data` means by a link"));
    CHECK(grant_in(run.err).empty());
    const auto explained = workspace.mcpac(
        {"policy", "explain", kRead, "{\"path\":\"data/../../x\"}", "--grant", kWithin});
    CHECK(has(explained.out, "no --grant is suggested: path leaves what `within ./data` means by"));
    CHECK_FALSE(has(explained.out, "fix:"));
  }

  TEST_CASE("what is not granted at all is to be granted as the program uses it") {
    auto& workspace = Workspace::shared();
    const std::string source =
        granted_program("rt.filesystem.read_text_file({.path = \"data/a.txt\"});");
    const auto refused = workspace.execute(source, "");
    INFO(refused.err);
    CHECK(refused.exit_code == 77);
    CHECK(has(refused.err, "MCPAC-E0704"));
    const std::string fix = grant_in(refused.err);
    CHECK(fix == kRead + "(path == \"data/a.txt\")");
    const Json more = more_with(workspace, "", fix);
    REQUIRE(more.size() == 1);
    CHECK(more[0].at("call") == Json{{"path", "data/a.txt"}});
    CHECK(workspace.execute(source, fix).exit_code == 0);
    const std::string list =
        "filesystem.read_multiple_files(paths size 2..2, paths[*] in {\"data/a.txt\", "
        "\"data/b.txt\"})";
    const auto listed = workspace.execute(
        granted_program(
            "rt.filesystem.read_multiple_files({.paths = {\"data/a.txt\", \"data/b.txt\"}});",
            "filesystem::read_multiple_files"),
        "");
    INFO(listed.err);
    CHECK(grant_in(listed.err) == list);
    CHECK_FALSE(has(listed.err, "not all known before the run"));
    const auto unknown = workspace.execute(granted_program(try_read(".path = p")), "");
    INFO(unknown.err);
    CHECK(has(unknown.err, "fix: --grant '" + kRead + "(path any)'\n"));
    CHECK(has(unknown.err, "is not all known before the run, and the fix leaves that open"));
  }

  TEST_CASE("a refusal before a run names the rule that decided, and a fix that all rules admit") {
    Workspace workspace(Workspace::real_servers());
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const std::string write = "filesystem.write_file";
    workspace.write(
        "writes.cpp",
        granted_program("std::string text = \"da\"; text += \"ta\";\n"
                        "  rt.filesystem.write_file({.path = \"data/x.txt\", .content = "
                        "text});",
                        "filesystem::write_file"));
    // A wildcard: the reason is about the call that is made, and the fix keeps what is tested.
    const auto wild = workspace.mcpac(
        {"execute", "-f", "writes.cpp", "--grant", "filesystem.*(path within ./data)"});
    INFO(wild.err);
    CHECK(wild.exit_code == 77);
    CHECK(has(wild.err,
              "content is not named in the brackets [allow filesystem.*(path within "
              "./data)] (decided by --grant)"));
    CHECK_FALSE(has(wild.err, "\"path\":\"\""));
    const std::string fix = grant_in(wild.err);
    CHECK(fix == write + "(path == \"data/x.txt\" within ./data, content any)");
    CHECK(workspace.mcpac({"execute", "-f", "writes.cpp", "--grant", fix}).exit_code == 0);
    // What is declared and called nowhere is taken out, not granted.
    workspace.write("unused.cpp",
                    granted_program("rt.filesystem.read_text_file({.path = \"data/a.txt\"});",
                                    "filesystem::read_text_file, filesystem::list_directory"));
    const auto unused = workspace.mcpac({"execute", "-f", "unused.cpp"});
    INFO(unused.err);
    CHECK(grant_in(unused.err) == kRead + "(path == \"data/a.txt\")");
    CHECK(has(unused.err,
              "and take filesystem.list_directory (unused.cpp:5) out of the program, "
              "which calls it nowhere"));
    const auto alone = workspace.mcpac({"execute", "-f", "unused.cpp", "--grant", kRead});
    CHECK(alone.exit_code == 77);
    CHECK(grant_in(alone.err).empty());
    const auto suggested = workspace.mcpac({"policy", "suggest", "unused.cpp"});
    CHECK(has(suggested.out, "allow " + kRead + "(path == \"data/a.txt\")\n"));
    CHECK_FALSE(has(suggested.out, "allow filesystem.list_directory"));
    // A ceiling that has nothing in common with the grant is what is blamed, and the only fix.
    workspace.write("mcpac.policy", "\nallow " + kRead + "(path within ./other)\n");
    workspace.write("reads.cpp",
                    granted_program("rt.filesystem.read_text_file({.path = \"data/a.txt\"});"));
    workspace.write("computes.cpp", granted_program(try_read(".path = p + \"/a.txt\"")));
    const auto known = workspace.mcpac({"execute", "-f", "reads.cpp", "--grant", kWithin});
    INFO(known.err);
    CHECK(known.exit_code == 77);
    CHECK(has(known.err, "path \"data/a.txt\" is not within ./other [allow " + kRead +
                             "(path within ./other)] (decided by mcpac.policy:2)"));
    CHECK_FALSE(has(known.err, "by --grant"));
    CHECK(grant_in(known.err).empty());
    CHECK(has(known.err, "fix: `allow " + kRead +
                             "(path == \"data/a.txt\" within ./data)` in mcpac.policy\n"));
    const auto unknown = workspace.mcpac({"execute", "-f", "computes.cpp", "--grant", kWithin});
    INFO(unknown.err);
    CHECK(has(unknown.err, "what was granted and mcpac.policy have no call of " + kRead +
                               " in common: granted " + kRead + " {\"path\":\"data"));
    CHECK(has(unknown.err, "is denied by mcpac.policy:2"));
    CHECK(has(unknown.err, "fix: `allow " + kWithin + "` in mcpac.policy"));
    CHECK(grant_in(unknown.err).empty());
    // Without a grant both are needed, and both are told; together they let it run.
    const auto both = workspace.mcpac({"execute", "-f", "reads.cpp"});
    INFO(both.err);
    CHECK(has(both.err, "fix: --grant '" + kRead + "(path == \"data/a.txt\")', and `allow " +
                            kRead + "(path == \"data/a.txt\")` in mcpac.policy"));
    // Each half is the same rule, with what either source tests.
    workspace.write("mcpac.policy", "allow " + kRead + "\n");
    const auto halves = workspace.mcpac(
        {"execute", "-f", "writes.cpp", "--grant", "filesystem.*(path within ./data)"});
    INFO(halves.err);
    CHECK(grant_in(halves.err) == fix);
    CHECK(has(halves.err, "and `allow " + fix + "` in mcpac.policy"));
    workspace.write("mcpac.policy", "allow " + kWithin + "\n");
    const auto computed = workspace.mcpac({"execute", "-f", "computes.cpp"});
    INFO(computed.err);
    CHECK(grant_in(computed.err) == kWithin);
    workspace.write("mcpac.policy", "allow " + kRead + "(path == \"data/a.txt\")\n");
    CHECK(workspace
              .mcpac({"execute", "-f", "reads.cpp", "--grant", kRead + "(path == \"data/a.txt\")"})
              .exit_code == 0);
    // With permission checks off what is not lifted is what is told, before the run, in it and in
    // its record.
    if (!workspace.allow_off_switch()) return;
    workspace.write("mcpac.policy", "\nallow " + kRead + "(path within ./other)\n");
    for (const char* program : {"reads.cpp", "computes.cpp"}) {
      const auto off = workspace.mcpac({"execute", "-f", program, "--no-permission-check"});
      INFO(off.out << off.err);
      CHECK(has(off.out + off.err, "is not within ./other"));
      CHECK(has(off.out + off.err, "mcpac.policy"));
      CHECK_FALSE(has(off.err, "the command line"));
      CHECK_FALSE(has(off.err, "fix: --grant"));
    }
    const auto denied = workspace.mcpac({"audit", "query", "denied"});
    INFO(denied.out);
    CHECK(has(denied.out, kRead + "  mcpac.policy: allow " + kRead + "(path within ./other)"));
    CHECK_FALSE(has(denied.out, "the command line: no rule"));
    CHECK(workspace.mcpac({"audit", "replay"}).exit_code == 0);
    workspace.write("mcpac.policy", "allow filesystem.*\ndeny " + kRead + "\n");
    const auto deny = workspace.mcpac({"execute", "-f", "computes.cpp", "--no-permission-check"});
    INFO(deny.err);
    CHECK(deny.exit_code == 77);
    CHECK(
        has(deny.err, "take what `deny " + kRead + "` (mcpac.policy:2) denies out of the program"));
    CHECK_FALSE(has(deny.err, "out of mcpac.policy"));
  }

  TEST_CASE("a helper that takes the whole of a narrowed tool is told to take the part") {
    const auto run = Workspace::shared().execute(
        granted_program("helper(rt);", "data",
                        "struct data : mcpac::Narrow<filesystem::read_text_file> {\n"
                        "  static constexpr char where[] = \"path within ./data\";\n};\n"
                        "void helper(mcpac::Requires<filesystem::read_text_file>) {}"),
        kRead);
    INFO(run.err);
    CHECK(run.exit_code == 65);
    CHECK(has(run.err, "take data in place of mcp::filesystem::read_text_file"));
    CHECK_FALSE(has(run.err, "to the Requires of the entry"));
  }

  TEST_CASE("permission checks are off by the word of a person alone, below deny and ceiling") {
    Workspace workspace(Workspace::real_servers());
    workspace.write("data/a.txt", "alpha\n");
    workspace.write("data/secret.txt", "secret\n");
    workspace.write("data/denied.txt", "denied\n");
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("mcpac.policy",
                    "allow filesystem.read_text_file\n"
                    "deny filesystem.read_text_file(path within ./data/secret.txt)\n");
    workspace.write(
        "three.cpp",
        granted_program("for (const char* name : {\"a\", \"secret\", \"denied\"}) {\n"
                        "    auto got = rt.filesystem.read_text_file.try_call({.path = "
                        "std::string(\"data/\") + name + \".txt\"});\n"
                        "    std::println(\"{}: {}\", name, got ? \"read\" : \"denied\");\n  }"));
    const std::vector<std::string> command{"execute",   "-f",
                                           "three.cpp", "--no-permission-check",
                                           "--deny",    kRead + "(path within ./data/denied.txt)"};
    const auto nobody = workspace.mcpac(command);
    INFO(nobody.err);
    CHECK(nobody.exit_code == 77);
    CHECK(has(nobody.err, "MCPAC-E0780"));
    // The least is told: the grant, a yes for this run; how it is switched off for good is not.
    CHECK(has(nobody.err, "without the switch its refusal names the --grant"));
    CHECK(has(nobody.err, "docs/configuration.md"));
    CHECK_FALSE(has(nobody.err, "echo"));
    CHECK_FALSE(has(nobody.err, ".config"));
    const auto no = workspace.with_person("n", command);
    CHECK(no.exit_code == 77);
    const auto yes = workspace.with_person("y", command);
    INFO(yes.out);
    CHECK(yes.exit_code == 0);
    CHECK(has(yes.out, "a: read"));
    CHECK(has(yes.out, "secret: denied"));
    CHECK(has(yes.out, "denied: denied"));
    if (!workspace.allow_off_switch()) return;
    const auto setting = workspace.home() / ".config/mcpac/no-permission-check";
    const auto set = workspace.mcpac(command);
    INFO(set.err);
    CHECK(has(set.out, "a: read\nsecret: denied\ndenied: denied\n"));
    const auto started = recorded_events(workspace, {"--kind", "RunStarted"});
    REQUIRE(started.size() == 2);
    CHECK(started[0].at("payload").at("mode") == "observe");
    CHECK(has(started[0].at("payload").at("lifted_by").get<std::string>(), "at the terminal"));
    CHECK(has(started[1].at("payload").at("lifted_by").get<std::string>(), "the setting "));
    CHECK(recorded_events(workspace, {"--kind", "RunRefused"}).size() == 2);
    CHECK(workspace.mcpac({"audit", "replay"}).exit_code == 0);
    // Others could have written it.
    fs::permissions(setting, fs::perms::group_write, fs::perm_options::add);
    const auto shared = workspace.mcpac(command);
    CHECK(shared.exit_code == 77);
    CHECK(has(shared.err, "a setting is there, and not taken: others may write " +
                              setting.string() + " (mode 620)"));
    // A constant that a ceiling denies is said before the run, as ever.
    fs::permissions(setting, fs::perms::group_write, fs::perm_options::remove);
    workspace.write(
        "constant.cpp",
        granted_program("rt.filesystem.read_text_file({.path = \"data/secret.txt\"});"));
    const auto constant =
        workspace.mcpac({"execute", "-f", "constant.cpp", "--no-permission-check"});
    CHECK(constant.exit_code == 77);
    CHECK(has(constant.err, "MCPAC-E0710"));
    // Its sibling: a weaker sandbox than the user accepted.
    const auto weaker = workspace.mcpac({"execute", "-f", "three.cpp", "--min-tier", "C"});
    CHECK(weaker.exit_code == 77);
    CHECK(has(weaker.err, "mcpac doctor --accept-tier C"));
  }

  TEST_CASE("the environment names neither the setting that switches checks off nor kept answers") {
    Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    if (!workspace.has_account()) return;
    workspace.write("echo.cpp",
                    "#include <mcpac.hpp>\n#include <print>\n"
                    "int agent_main(mcpac::Requires<mcp::fixture::echo> rt) {\n"
                    "  auto said = rt.fixture.echo.try_call({.zebra = \"z\"});\n"
                    "  std::println(\"{}\", said ? \"said\" : \"denied\");\n  return 0;\n}\n");
    const auto folder = workspace.folder().string();
    const auto forged = workspace.write("forged/.config/mcpac/no-permission-check", "allowed\n");
    fs::create_directories(workspace.folder() / "forged/.local/state");
    workspace.write("forged/.config/mcpac/accepted-tier", "C\n");
    const e2e::RunOptions named{
        .environment = {"HOME=" + folder + "/forged",
                        "XDG_CONFIG_HOME=" + folder + "/forged/.config",
                        "XDG_STATE_HOME=" + folder + "/forged/.local/state"}};
    const auto off = workspace.mcpac({"execute", "-f", "echo.cpp", "--no-permission-check"}, named);
    INFO(off.err);
    CHECK(off.exit_code == 77);
    CHECK(has(off.err, "MCPAC-E0780"));
    CHECK_FALSE(has(off.out, "said"));
    const auto weak = workspace.mcpac({"execute", "-f", "echo.cpp", "--min-tier", "C"}, named);
    CHECK(has(weak.err, "MCPAC-E0780"));
    CHECK(workspace.mcpac({"doctor", "--json"}, named).json().at("accepted_tier") == "A");
    // Nor does a command line accept a weaker sandbox for good.
    const auto accept = workspace.mcpac({"doctor", "--accept-tier", "C"});
    CHECK(accept.exit_code == 77);
    CHECK(has(accept.err, "MCPAC-E0780"));
    CHECK(has(workspace.with_person("y", {"doctor", "--accept-tier", "C"}).out,
              "tier C is accepted"));
    CHECK(workspace.mcpac({"doctor", "--json"}).json().at("accepted_tier") == "C");
    CHECK(workspace.mcpac({"doctor", "--accept-tier", "A"}).exit_code != 77);
    // An answer that is kept is the account's, wherever the state of a run goes to.
    const auto approver = workspace.write(
        "until.py",
        "import json, sys\nq = json.load(sys.stdin)\n"
        "how = dict(answer='yes') if q['kind'] == 'program' else dict(answer='until', until='1h')\n"
        "print(json.dumps(dict(question=q['question'], **how)))\n");
    const std::vector<std::string> asks{"execute",
                                        "-f",
                                        "echo.cpp",
                                        "--ask",
                                        "fixture.echo",
                                        "--approver",
                                        "python3 " + approver.string()};
    CHECK(has(workspace.mcpac(asks, named).out, "said"));
    const auto kept = workspace.home() / ".local/state/mcpac/approvals.json";
    REQUIRE(fs::exists(kept));
    CHECK_FALSE(fs::exists(workspace.folder() / "forged/.local/state/mcpac/approvals.json"));
    fs::copy(kept, workspace.folder() / "forged/.local/state/mcpac/approvals.json");
    CHECK(workspace.mcpac({"approvals", "forget", "--all"}).exit_code == 0);
    CHECK(workspace.mcpac({"approvals", "list", "--json"}, named).json().empty());
    // No program is given what a person's word is kept in.
    const auto given = workspace.mcpac(
        {"execute", "-c",
         "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<mcpac::files>) { return 0; }",
         "--files", (workspace.home() / ".config").string() + ":rw"});
    CHECK(has(given.err, "cannot be granted"));
  }

  TEST_CASE("an answer for the run is about the tool that was shown, and says so") {
    auto& workspace = Workspace::shared();
    workspace.write(
        "both.cpp",
        granted_program("(void)rt.filesystem.list_directory.try_call({.path = \"data\"});\n"
                        "  (void)rt.filesystem.list_directory.try_call({.path = \".\"});\n"
                        "  (void)rt.filesystem.get_file_info.try_call({.path = \"data\"});",
                        "filesystem::list_directory, filesystem::get_file_info"));
    const auto run =
        workspace.with_person("y,run,no", {"execute", "-f", "both.cpp", "--ask", "filesystem.*"});
    INFO(run.out);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "all calls of this tool that the rule above asks about"));
    CHECK(has(run.out, "may both.cpp make this call?\r\n  tool get_file_info of server"));
  }

  TEST_CASE("allow these, ask for the rest is one word, and its forgetting is told") {
    auto& workspace = Workspace::shared();
    const std::string source = granted_program(try_read(".path = p + \"/a.txt\""));
    const auto mute = workspace.execute(source, kWithin, {"--ask", "filesystem.*"});
    INFO(mute.err);
    CHECK(has(mute.err, "lets nothing through unasked: 'ask filesystem.*' catches all"));
    CHECK(has(mute.err, "'ask filesystem.* otherwise' asks about the rest alone"));
    const auto meant =
        workspace.execute(source, kWithin, {"--ask", "filesystem.* otherwise", "--expect-denials"});
    INFO(meant.err);
    CHECK(has(meant.out, "read"));
    CHECK_FALSE(has(meant.err, "lets nothing through"));
    workspace.write("mute.rules", "allow " + kWithin + "\nask filesystem.*\n");
    const auto check = workspace.mcpac({"policy", "check", "mute.rules"});
    INFO(check.out);
    CHECK(has(check.out, "mute.rules:1: note: 'allow " + kWithin + "' admits no call unasked"));
    CHECK(has(check.out, "end the ask with `otherwise`"));
  }

  TEST_CASE("a run that was refused before it began is recorded, with what was answered") {
    Workspace workspace(Workspace::real_servers());
    workspace.write("data/a.txt", "alpha\n");
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("reads.cpp",
                    granted_program("rt.filesystem.read_text_file({.path = \"data/a.txt\"});"));
    CHECK(workspace.mcpac({"execute", "-f", "reads.cpp"}).exit_code == 77);
    CHECK(workspace.mcpac({"execute", "-f", "reads.cpp", "--grant", kRead + "(path == \"b\")"})
              .exit_code == 77);
    CHECK(workspace.mcpac({"execute", "-f", "reads.cpp", "--ask", kRead}).exit_code == 77);
    CHECK(workspace.mcpac({"execute", "--dry-run", "-f", "reads.cpp"}).exit_code == 77);
    auto refused = recorded_events(workspace, {"--kind", "RunRefused"});
    REQUIRE(refused.size() == 3);  // nothing would have run of a dry run
    CHECK(refused[0].at("payload").at("error") == "MCPAC-E0704");
    CHECK(refused[0].at("payload").at("not_granted") == Json{kRead});
    CHECK(refused[1].at("payload").at("error") == "MCPAC-E0710");
    CHECK(refused[2].at("payload").at("error") == "MCPAC-E0711");
    CHECK(refused[2].at("payload").at("declared") == Json{kRead});
    // A person's no, and a yes.
    CHECK(workspace.with_person("n", {"execute", "-f", "reads.cpp", "--ask", kRead}).exit_code ==
          77);
    CHECK(
        workspace.with_person("y,once", {"execute", "-f", "reads.cpp", "--ask", kRead}).exit_code ==
        0);
    CHECK(workspace.with_person("y", {"execute", "-f", "reads.cpp"}).exit_code == 0);
    std::vector<std::string> said;
    for (const Json& event : recorded_events(workspace, {"--kind", "Approval"})) {
      const Json& payload = event.at("payload");
      said.push_back(payload.at("scope").get<std::string>() + " " +
                     payload.at("answer").get<std::string>());
      if (payload.at("scope") == "grants")
        CHECK(payload.at("rules")[0].at("rule") == "allow " + kRead + "(path == \"data/a.txt\")");
      if (payload.at("scope") != "call")
        CHECK(has(payload.at("who").get<std::string>(), "at the terminal"));
    }
    CHECK(said == std::vector<std::string>{"program no", "program yes", "call once", "grants yes"});
    // Rules that cannot be read, and a source that is no program.
    CHECK(
        workspace.mcpac({"execute", "-f", "reads.cpp", "--grant", kRead + "(path =="}).exit_code ==
        78);
    CHECK(workspace.mcpac({"execute", "-f", "reads.cpp", "--deny", "network," + kRead}).exit_code ==
          78);
    CHECK(workspace.mcpac({"execute", "-f", "reads.cpp", "--grant", "filesystem.raed_file"})
              .exit_code == 78);
    workspace.write("mcpac.policy", "allow " + kRead + "\nallow " + kRead + "(\n");
    CHECK(workspace.mcpac({"execute", "-f", "reads.cpp", "--grant", kRead}).exit_code == 78);
    fs::remove(workspace.folder() / "mcpac.policy");
    workspace.write("broken.cpp", "int agent_main( {");
    CHECK(workspace.mcpac({"execute", "-f", "broken.cpp", "--grant", kRead}).exit_code == 65);
    refused = recorded_events(workspace, {"--kind", "RunRefused"});
    std::vector<std::string> last;
    for (const Json& event : refused) last.push_back(event.at("payload").at("error"));
    REQUIRE(last.size() == 9);
    CHECK(std::vector<std::string>(last.begin() + 4, last.end()) ==
          std::vector<std::string>{"MCPAC-E0200", "MCPAC-E0200", "MCPAC-E0201", "MCPAC-E0200",
                                   "MCPAC-E0503"});
    const auto verified = workspace.mcpac({"audit", "verify"});
    INFO(verified.out << verified.err);
    CHECK(verified.exit_code == 0);
    CHECK(workspace.mcpac({"audit", "replay"}).exit_code == 0);
    const auto listed = workspace.mcpac({"audit", "list"});
    CHECK(has(listed.out, "RunRefused reads.cpp: MCPAC-E0704"));
  }

  TEST_CASE("what is suggested of a run is never more than it was granted") {
    auto& workspace = Workspace::shared();
    const auto run = workspace.execute(granted_program(try_read(".path = p + \"/a.txt\"")),
                                       kWithin + " calls <= 3", {"--json"});
    REQUIRE(run.exit_code == 0);
    const std::string id = run.json().at("run_id");
    const auto suggested = workspace.mcpac({"policy", "suggest", id, "-o", "of_run.rules"});
    INFO(suggested.err);
    REQUIRE(suggested.exit_code == 0);
    CHECK(has(workspace.read("of_run.rules"), "allow " + kWithin + " calls <= 3\n"));
    workspace.write("granted.rules", "allow " + kWithin + " calls <= 3\n");
    CHECK(workspace.mcpac({"policy", "diff", "granted.rules", "of_run.rules"}).exit_code == 0);
    const auto exact = workspace.execute(granted_program(try_read(".path = p + \"/a.txt\"")),
                                         kWithin + " audit args", {"--json"});
    const auto of_call =
        workspace.mcpac({"policy", "suggest", exact.json().at("run_id").get<std::string>()});
    CHECK(
        has(of_call.out, "allow " + kRead + "(path == \"data/a.txt\" within ./data) audit args\n"));
  }
}
