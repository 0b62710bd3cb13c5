# SPDX-License-Identifier: Apache-2.0
"""Programs that are right by construction, woven from ways to say the same thing.

Each unit of a program makes one call: an argument that is spelled in some way and often changed in another
before the call, a callable that is reached in some way, a capability object that was handed over in some way,
and a place in the code around it all. What the call is and which value it gets is known, so the analyzer's
answer can be held against it: nothing of it may be missing, and no value may be a wrong one.
"""
import dataclasses

CALLS = {  # tool -> (permission, the members of Args behind `path`)
    "read_text_file": ("filesystem.read_text_file", ""),
    "list_directory": ("filesystem.list_directory", ""),
    "write_file": ("filesystem.write_file", ', .content = "c"'),
}


@dataclasses.dataclass
class Unit:
    """One function that makes one call. Lines are those of the whole program, filled in at the end."""
    permission: str
    actual: str  # the path that the call gets
    possible: set  # what the source offers; a value outside of it is wrong
    text: str
    first_line: int = 0
    last_line: int = 0


@dataclasses.dataclass
class Value:
    """A std::string (or what converts to one) with the value `actual` behind `statements`."""
    expression: str
    actual: str
    before: str = ""  # declarations in front of the function
    statements: str = ""
    possible: set = dataclasses.field(default_factory=set)


def plain(n, chance):
    """Values that never change."""
    a, b = f"a{n}", f"b{n}"
    return chance.choice((
        Value(f'"{a}"', a),
        Value(f'std::string("{a}")', a),
        Value(f'std::string("a") + "{n}"', a),
        Value(f"v{n}", a, statements=f'const std::string v{n} = "{a}";'),
        Value(f"v{n}", a, statements=f'const char* const v{n} = "a" "{n}";'),
        Value(f"std::string(kV{n})", a, before=f'constexpr std::string_view kV{n} = "{a}";'),
        Value(f"kV{n}", a, before=f'namespace {{ const std::string kV{n} = "{a}"; }}'),
        Value(f"value{n}()", a, before=f'static std::string value{n}() {{ return "{a}"; }}'),
        Value(f'value{n}("{n}")', a,
              before=f'static std::string value{n}(std::string_view end) {{ return "a" + std::string(end); }}'),
        Value(f"first{n}", a, statements=f'const auto [first{n}, second{n}] = std::pair<std::string, int>("{a}", 1);'),
        Value(f"list{n}[1]", b, statements=f'const std::vector<std::string> list{n}{{"{a}", "{b}"}};', possible={a, b}),
        Value(f"list{n}.front()", a, statements=f'const std::array<std::string, 2> list{n}{{"{a}", "{b}"}};',
              possible={a, b}),
        Value(f'(coin{n}() ? "{a}" : "{b}")', a, possible={a, b},
              before=f'static bool coin{n}() {{ return std::string("ab").size() == 2; }}'),
        Value(f'std::format("a{{}}", {n})', a),
        Value(f"Box{n}{{}}.path", a, before=f'struct Box{n} {{ std::string path = "{a}"; }};'),
        Value(f"Box{n}::kPath", a, before=f'struct Box{n} {{ static constexpr const char* kPath = "{a}"; }};'),
    ))


def changed(n, chance):
    """A variable that starts as one value and is another one when it is used."""
    a, b = f"a{n}", f"b{n}"
    start = f'std::string v{n} = "{a}";'
    before, statements = chance.choice((
        ("", f'{start} v{n} = "{b}";'),
        ("", f'{start} v{n}.assign("{b}");'),
        ("", f'{start} v{n}.clear(); v{n} += "{b}";'),
        ("", f'{start} v{n}[0] = \'b\';'),
        ("", f'{start} v{n}.front() = \'b\';'),
        ("", f'{start} v{n}.replace(0, 1, "b");'),
        ("", f'{start} for (char& c : v{n}) if (c == \'a\') c = \'b\';'),
        ("", f'{start} std::string& r{n} = v{n}; r{n} = "{b}";'),
        ("", f'{start} auto&& r{n} = v{n}; r{n} = "{b}";'),
        ("", f'{start} auto* p{n} = &v{n}; *p{n} = "{b}";'),
        ("", f'{start} std::string w{n} = "{b}"; std::swap(v{n}, w{n});'),
        ("", f'{start} std::string w{n} = "{b}"; v{n}.swap(w{n});'),
        ("", f'{start} (void)std::exchange(v{n}, "{b}");'),
        ("", f'{start} auto set{n} = [&v{n}] {{ v{n} = "{b}"; }}; set{n}();'),
        ("", f'{start} auto set{n} = [&] {{ v{n} = "{b}"; }}; set{n}();'),
        ("", f'{start} auto set{n} = [&r = v{n}] {{ r = "{b}"; }}; set{n}();'),
        ("", f'{start} [](std::string& s) {{ s = "{b}"; }}(v{n});'),
        ("", f'{start} std::tie(v{n}) = std::tuple<std::string>("{b}");'),
        ("", f'{start} std::ranges::copy(std::string("b"), v{n}.begin());'),
        ("", f'{start} std::ranges::replace(v{n}, \'a\', \'b\');'),
        ("", f'{start} std::ref(v{n}).get() = "{b}";'),
        ("", f'{start} std::pair<std::string&, int> q{n}(v{n}, 1); q{n}.first = "{b}";'),
        ("", f'{start} std::initializer_list<std::string*> l{n}{{&v{n}}}; for (auto* p : l{n}) *p = "{b}";'),
        ("", f'{start} if (v{n}.size() > 1) {{ v{n} = "{b}"; }}'),
        ("", f'{start} while (v{n} != "{b}") v{n} = "{b}";'),
        ("", f'{start} std::istringstream("{b}") >> v{n};'),
        ("", f'{start} std::visit([](auto* s) {{ *s = "{b}"; }}, std::variant<std::string*>(&v{n}));'),
        (f"static void set{n}(std::string& s) {{ s = \"{b}\"; }}", f"{start} set{n}(v{n});"),
        (f"static void set{n}(std::string* s) {{ *s = \"{b}\"; }}", f"{start} set{n}(&v{n});"),
        (f"static void set{n}(auto& s) {{ s = \"{b}\"; }}", f"{start} set{n}(v{n});"),
        (f"struct Set{n} {{ std::string& s; ~Set{n}() {{ s = \"{b}\"; }} }};", f"{start} {{ Set{n} at_end{{v{n}}}; }}"),
        (f"struct Set{n} {{ std::string* s; void go() const {{ *s = \"{b}\"; }} }};",
         f"{start} const Set{n} set{n}{{&v{n}}}; set{n}.go();"),
        (f"static std::string v{n} = \"{a}\"; static void set{n}() {{ v{n} = \"{b}\"; }}", f"set{n}();"),
        (f"static std::string& at{n}() {{ static std::string s = \"{a}\"; return s; }}",
         f"at{n}() = \"{b}\"; const std::string v{n} = at{n}();"),
        (f"struct Box{n} {{ std::string path = \"{a}\"; }};",
         f"Box{n} box{n}; box{n}.path = \"{b}\"; const auto& v{n} = box{n}.path;"),
        ("", f'const char* v{n} = "{a}"; v{n} = "{b}";'),
        ("", f'char v{n}[] = "{a}"; v{n}[0] = \'b\';'),
        ("", f'std::array<const char*, 1> l{n}{{"{a}"}}; l{n}[0] = "{b}"; const auto v{n} = l{n}[0];'),
        ("", f'std::vector<std::string> l{n}{{"{a}"}}; l{n}.back() = "{b}"; const auto& v{n} = l{n}[0];'),
        ("", f'std::map<int, std::string> m{n}{{{{1, "{a}"}}}}; m{n}[1] = "{b}"; const auto& v{n} = m{n}.at(1);'),
    ))
    return Value(f"v{n}", b, before, statements)


def arguments(n, tool, value, chance):
    """(statements, the text between the parentheses of a call, whether it is an Args already)"""
    more = CALLS[tool][1]
    args = f"mcp::filesystem::{tool}::Args"
    whole = f"{args}{{.path = {value.expression}{more}}}"
    return chance.choice((
        ("", f"{{.path = {value.expression}{more}}}", False),
        ("", f"{{.path = {value.expression}{more}}}", False),
        ("", whole, True),
        (f"const {args} args{n}{{.path = {value.expression}{more}}};", f"args{n}", True),
        (f"auto args{n} = {whole};", f"std::move(args{n})", True),
        (f'{args} args{n}{{.path = "x{n}"{more}}}; args{n}.path = {value.expression};', f"args{n}", True),
        (f'{args} args{n}{{.path = "x{n}"{more}}}; auto& other{n} = args{n}; other{n}.path = {value.expression};',
         f"args{n}", True),
        (f'{args} args{n}{{.path = "x{n}"{more}}}; args{n} = {whole};', f"args{n}", True),
        (f"auto make{n} = [&] {{ return {whole}; }};", f"make{n}()", True),
    ))


def call(n, handle, tool, between, is_args, chance):
    """(statements, an expression that makes the call)"""
    at = f"{handle}.filesystem.{tool}"
    ways = [
        ("", f"{at}({between})"), ("", f"{at}({between})"), ("", f"({at})({between})"),
        ("", f"{at}.async({between}).get()"), ("", f"{at}.try_call({between})"),
        ("", f"{at}.operator()({between})"),
        (f"auto& method{n} = {at};", f"method{n}({between})"),
        (f"const auto method{n} = {at};", f"method{n}({between})"),
        (f"const auto group{n} = {handle}.filesystem;", f"group{n}.{tool}({between})"),
        (f"const auto* group{n} = &{handle}.filesystem;", f"group{n}->{tool}({between})"),
        ("", f"std::as_const({at})({between})"),
    ]
    if is_args:
        function = f"std::function<mcp::filesystem::{tool}::Result(const mcp::filesystem::{tool}::Args&)>"
        ways += [
            ("", f"std::invoke({at}, {between})"), ("", f"std::bind_front({at}, {between})()"),
            (f"const {function} method{n} = {at};", f"method{n}({between})"),
            ("", f"std::apply({at}, std::make_tuple({between}))"),
            ("", f"[](auto&& f, auto&& a) {{ return f(a); }}({at}, {between})"),
            ("", f"std::ref({at})({between})"),
        ]
    return chance.choice(ways)


def place(n, work, result, chance):
    """The statements of the function around `work`, which then evaluates `result`."""
    done = f"{work} (void){result};"
    return chance.choice((
        done, done,
        f"if (int i = 1; i > 0) {{ {done} }}",
        f"for (int i = 0; i < 2; ++i) {{ {done} }}",
        f"do {{ {done} }} while (false);",
        f"switch (1) {{ case 1: {{ {done} break; }} default: break; }}",
        f"try {{ throw 1; }} catch (int) {{ {done} }}",
        f"[&] {{ {done} }}();",
        f"auto go{n} = [&](auto times) {{ if (times > 0) {{ {done} }} }}; go{n}(1);",
        f"std::thread([&] {{ {done} }}).join();",
        f"struct Local{n} {{ std::function<void()> f; ~Local{n}() {{ f(); }} }}; Local{n} local{n}{{[&] {{ {done} }}}};",
        f"std::ranges::for_each(std::views::iota(0, 1), [&](int) {{ {done} }});",
        f"{work} WOVEN_DO({result});",
        f"{work} const bool b{n} = (static_cast<void>({result}), true); (void)b{n};",
        f"{work} if (const auto& answer = {result}; true) {{ (void)answer; }}",
        f"if constexpr (sizeof(int) == 4) {{ {done} }}",
        f"auto later{n} = [&]() -> int {{ {done} return 1; }}; static_cast<void>(later{n}());",
    ))


def function(n, tool, body, chance):
    """(text of the function, the statement that calls it). `body` works on a capability object `cap`."""
    tag = f"mcp::filesystem::{tool}"
    one = f"mcpac::Requires<{tag}>"
    name = f"unit{n}"
    return chance.choice((
        (f"static void {name}({one} cap) {{ {body} }}", f"{name}(rt);"),
        (f"static void {name}(const {one}& cap) {{ {body} }}", f"{name}(rt);"),
        (f"static void {name}(const All& cap) {{ {body} }}", f"{name}(rt);"),
        (f"static void {name}(const auto& cap) {{ {body} }}", f"{name}(rt);"),
        (f"template <class C> void {name}(C cap) {{ {body} }}", f"{name}<{one}>(rt);"),
        (f"template <class C> struct Unit{n} {{ C cap; void go() {{ {body} }} }};", f"Unit{n}<{one}>{{rt}}.go();"),
        (f"struct Unit{n} {{ {one} cap; void operator()() const {{ {body} }} }};", f"Unit{n}{{rt}}();"),
        (f"struct Base{n} {{ virtual ~Base{n}() = default; virtual void go({one} cap) = 0; }};"
         f" struct Unit{n} : Base{n} {{ void go({one} cap) override {{ {body} }} }};",
         f"std::unique_ptr<Base{n}>(new Unit{n})->go(rt);"),
        (f"static void {name}(std::optional<{one}> given) {{ const auto& cap = *given; {body} }}", f"{name}({one}(rt));"),
        (f"static void {name}(std::tuple<int, {one}> given) {{ auto& [i, cap] = given; (void)i; {body} }}",
         f"{name}({{1, {one}(rt)}});"),
        (f"static void {name}(const std::vector<{one}>& all) {{ for (const auto& cap : all) {{ {body} }} }}",
         f"{name}({{{one}(rt)}});"),
        (f"static void {name}(std::shared_ptr<{one}> given) {{ auto& cap = *given; {body} }}",
         f"{name}(std::make_shared<{one}>(rt));"),
        (f"static auto {name} = []({one} cap) {{ {body} }};", f"{name}(rt);"),
        (f"static auto {name} = [](auto cap) {{ {body} }};", f"{name}(rt);"),
        (f"struct Unit{n} {{ explicit Unit{n}({one} cap) {{ {body} }} }};", f"Unit{n} u{n}(rt); (void)u{n};"),
        (f"static int {name}({one} cap, int depth) {{ if (depth > 0) return {name}(cap, depth - 1); {body} return 0; }}",
         f"{name}(rt, 2);"),
    ))


def unit(n, chance):
    tool = chance.choice(list(CALLS))
    value = chance.choice((plain, changed))(n, chance)
    made, between, is_args = arguments(n, tool, value, chance)
    reached, expression = call(n, "cap", tool, between, is_args, chance)
    body = place(n, f"{value.statements} {made} {reached}", expression, chance)
    text, used = function(n, tool, body, chance)
    possible = (value.possible or {value.actual}) | {value.actual}
    lines = [line for line in (value.before, *text.replace("; ", ";\n  ").split("\n")) if line]
    return Unit(CALLS[tool][0], value.actual, possible, "\n".join(lines)), used


HEADERS = ("algorithm array format functional map memory optional ranges sstream string string_view thread tuple utility "
           "variant vector").split()


def woven(chance):
    """(the text of a program, its units)"""
    units, uses = [], []
    text = "".join(f"#include <{header}>\n" for header in HEADERS) + "#include <mcpac.hpp>\n"
    text += "#define WOVEN_DO(what) static_cast<void>(what)\n"
    tags = ", ".join(f"mcp::filesystem::{tool}" for tool in CALLS)
    text += f"using All = mcpac::Requires<{tags}>;\n"
    for n in range(chance.choice((2, 3, 4, 6))):
        made, used = unit(n, chance)
        made.first_line = text.count("\n") + 1
        text += made.text + "\n"
        made.last_line = text.count("\n")
        units.append(made)
        uses.append(used)
    text += "int agent_main(All rt) {\n" + "".join(f"  {used}\n" for used in uses) + "  return 0;\n}\n"
    return text, units
