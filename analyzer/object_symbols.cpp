// SPDX-License-Identifier: Apache-2.0

#include "analyzer/object_symbols.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

struct Purpose {
  const char* name;
  std::string_view functions;  // one space between two
};

constexpr std::array kPurposes{
    Purpose{
        "the C++ runtime",
        "__cxa_allocate_exception __cxa_free_exception __cxa_throw __cxa_rethrow "
        "__cxa_begin_catch __cxa_end_catch __cxa_get_exception_ptr __cxa_current_exception_type "
        "__cxa_init_primary_exception __cxa_rethrow_primary_exception __cxa_uncaught_exceptions "
        "__cxa_current_primary_exception __cxa_decrement_exception_refcount "
        "__cxa_increment_exception_refcount __cxa_get_globals __cxa_demangle "
        "__cxa_guard_acquire __cxa_guard_release __cxa_guard_abort __cxa_atexit "
        "__cxa_thread_atexit __cxa_pure_virtual __cxa_deleted_virtual __cxa_bad_cast "
        "__cxa_bad_typeid __cxa_call_unexpected __cxa_throw_bad_array_new_length "
        "__cxa_vec_new __cxa_vec_new2 __cxa_vec_new3 __cxa_vec_delete __cxa_vec_delete2 "
        "__cxa_vec_delete3 __cxa_vec_ctor __cxa_vec_dtor __cxa_vec_cctor __cxa_vec_cleanup "
        "__dynamic_cast __gxx_personality_v0 __dso_handle __tls_get_addr "
        "_GLOBAL_OFFSET_TABLE_ _Unwind_Resume _Unwind_RaiseException _Unwind_DeleteException "
        "__stack_chk_fail __assert_fail __errno_location abort exit atexit"},
    Purpose{"arithmetic of the compiler",
            "__divti3 __modti3 __udivti3 __umodti3 __divmodti4 __udivmodti4 __multi3 __muloti4 "
            "__mulodi4 __ashlti3 __ashrti3 __lshrti3 __popcountdi2 __popcountsi2 __clzti2 "
            "__ctzti2 __bswapdi2 __muldc3 __mulsc3 __mulxc3 __divdc3 __divsc3 __divxc3 "
            "__powidf2 __powisf2 __powixf2 __fixdfti __fixsfti __fixxfti __fixunsdfti "
            "__fixunssfti __fixunsxfti __fixunsxfdi __floattidf __floattisf __floattixf "
            "__floatuntidf __floatuntisf __floatuntixf __extendhfsf2 __truncsfhf2 __truncdfhf2 "
            "__extendhfdf2 __extendhfxf2 __truncxfhf2 __truncsfbf2 __truncdfbf2 __addtf3 "
            "__subtf3 __multf3 __divtf3 __eqtf2 __netf2 __lttf2 __letf2 __gttf2 __getf2 "
            "__unordtf2 __extenddftf2 __extendsftf2 __extendxftf2 __trunctfdf2 __trunctfsf2 "
            "__trunctfxf2 __fixtfsi __fixtfdi __fixtfti __floatsitf __floatditf __floattitf"},
    Purpose{"memory",
            "malloc calloc realloc free aligned_alloc posix_memalign memcpy memmove memset "
            "memcmp memchr memrchr memmem mempcpy memccpy bcmp bzero bcopy explicit_bzero"},
    Purpose{
        "text",
        "strlen strnlen strcpy strncpy stpcpy stpncpy strcat strncat strcmp strncmp strcasecmp "
        "strncasecmp strchr strrchr strchrnul strstr strcasestr strpbrk strspn strcspn strtok "
        "strtok_r strsep strdup strndup strcoll strxfrm strerror strerror_r __xpg_strerror_r "
        "strsignal wcslen wcsnlen wcscpy wcsncpy wcscat wcsncat wcscmp wcsncmp wcschr wcsrchr "
        "wcsstr wcspbrk wcsspn wcscspn wcstok wcscoll wcsxfrm wmemcpy wmemmove wmemset wmemcmp "
        "wmemchr wcwidth wcswidth mblen mbtowc wctomb mbstowcs wcstombs mbrlen mbrtowc wcrtomb "
        "mbsrtowcs wcsrtombs mbsnrtowcs wcsnrtombs mbsinit btowc wctob mbrtoc8 c8rtomb mbrtoc16 "
        "c16rtomb mbrtoc32 c32rtomb isalnum isalpha isblank iscntrl isdigit isgraph islower "
        "isprint ispunct isspace isupper isxdigit tolower toupper toascii isascii iswalnum "
        "iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace "
        "iswupper iswxdigit towlower towupper iswctype wctype towctrans wctrans __ctype_b_loc "
        "__ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max index rindex"},
    Purpose{
        "numbers in text",
        "atoi atol atoll atof strtol strtoll strtoul strtoull strtoimax strtoumax strtof strtod "
        "strtold wcstol wcstoll wcstoul wcstoull wcstof wcstod wcstold __isoc23_strtol "
        "__isoc23_strtoll __isoc23_strtoul __isoc23_strtoull abs labs llabs imaxabs div ldiv "
        "lldiv imaxdiv qsort bsearch rand srand rand_r random srandom drand48 lrand48 srand48"},
    Purpose{"locales",
            "setlocale localeconv newlocale uselocale freelocale duplocale strcoll_l strxfrm_l "
            "strftime_l strtof_l strtod_l strtold_l strtoll_l strtoull_l isdigit_l isxdigit_l "
            "isupper_l islower_l toupper_l tolower_l wcscoll_l wcsxfrm_l iswctype_l iswspace_l "
            "towupper_l towlower_l nl_langinfo nl_langinfo_l"},
    Purpose{"its own input and output",
            "stdin stdout stderr printf fprintf sprintf snprintf vprintf vfprintf vsprintf "
            "vsnprintf vasprintf asprintf puts fputs putchar putc fputc fwrite fread getchar getc "
            "fgetc fgets ungetc getline getdelim scanf fscanf sscanf vscanf vfscanf vsscanf "
            "__isoc99_scanf __isoc99_fscanf __isoc99_sscanf __isoc99_vsscanf __isoc23_scanf "
            "__isoc23_fscanf __isoc23_sscanf __isoc23_vsscanf perror fflush setvbuf setbuf feof "
            "ferror clearerr flockfile funlockfile putchar_unlocked putc_unlocked fputs_unlocked "
            "fwrite_unlocked getc_unlocked fileno isatty wprintf fwprintf swprintf vwprintf "
            "vfwprintf vswprintf fputwc putwc putwchar fputws fgetwc getwc getwchar ungetwc fwide "
            "swscanf"},
    Purpose{"clocks",
            "time clock clock_gettime clock_getres gettimeofday timespec_get nanosleep "
            "clock_nanosleep sleep usleep difftime mktime timegm gmtime gmtime_r localtime "
            "localtime_r asctime asctime_r ctime ctime_r strftime strptime wcsftime"},
    Purpose{
        "its own threads",
        "pthread_create pthread_join pthread_detach pthread_self pthread_equal pthread_once "
        "pthread_exit pthread_cond_broadcast pthread_cond_clockwait pthread_cond_destroy "
        "pthread_cond_init pthread_cond_signal pthread_cond_timedwait pthread_cond_wait "
        "pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock "
        "pthread_mutex_timedlock pthread_mutex_clocklock pthread_mutex_unlock "
        "pthread_mutexattr_init pthread_mutexattr_settype pthread_mutexattr_destroy "
        "pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_rdlock "
        "pthread_rwlock_tryrdlock pthread_rwlock_wrlock pthread_rwlock_trywrlock "
        "pthread_rwlock_unlock pthread_key_create pthread_key_delete pthread_getspecific "
        "pthread_setspecific pthread_attr_init pthread_attr_destroy pthread_attr_setstacksize "
        "pthread_attr_setdetachstate pthread_setname_np pthread_yield sched_yield thrd_create "
        "thrd_join thrd_yield thrd_sleep thrd_current mtx_init mtx_lock mtx_unlock mtx_destroy "
        "cnd_init cnd_wait cnd_signal cnd_broadcast cnd_destroy call_once tss_create tss_get "
        "tss_set sem_init sem_destroy sem_wait sem_trywait sem_timedwait sem_clockwait sem_post "
        "sem_getvalue get_nprocs"},
    Purpose{"control",
            "setjmp _setjmp longjmp __sigsetjmp siglongjmp signal raise quick_exit at_quick_exit "
            "_Exit _exit assert"},
};

// Each with the endings "", "f" and "l" for the three floating types.
constexpr std::string_view kMathematics =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 "
    "expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log "
    "log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder "
    "remquo rint round roundeven scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc "
    "cabs carg cexp clog cpow csqrt csin ccos ctan j0 j1 jn y0 y1 yn drem significand "
    "__fpclassify __isinf __isnan __signbit __finite lgamma_r fegetround fesetround feclearexcept "
    "fetestexcept feraiseexcept fegetenv fesetenv";

bool is_mathematics(std::string_view name) {
  if (has_word(kMathematics, name)) return true;
  const bool variant = name.ends_with('f') || name.ends_with('l');
  return variant && has_word(kMathematics, name.substr(0, name.size() - 1));
}

// Itanium C++ ABI, 5.1: <source-name> ::= <number> <identifier>. Compilers write an L before that
// of what is static.
std::optional<std::string_view> take_source_name(std::string_view& rest) {
  if (rest.size() > 1 && rest[0] == 'L' && rest[1] >= '0' && rest[1] <= '9') rest.remove_prefix(1);
  std::size_t length = 0;
  std::size_t digits = 0;
  for (; digits < rest.size() && digits < 5 && rest[digits] >= '0' && rest[digits] <= '9'; ++digits)
    length = length * 10 + static_cast<std::size_t>(rest[digits] - '0');
  if (digits == 0 || length == 0 || length > rest.size() - digits) return std::nullopt;
  const auto name = rest.substr(digits, length);
  rest.remove_prefix(digits + length);
  return name;
}

bool take(std::string_view& rest, std::string_view start) {
  if (!rest.starts_with(start)) return false;
  rest.remove_prefix(start.size());
  return true;
}

bool take_offset(std::string_view& rest) {
  take(rest, "n");
  std::size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  rest.remove_prefix(digits);
  return digits > 0 && take(rest, "_");
}

// <call-offset> ::= h <nv-offset> _ | v <v-offset> _ <v-offset> _
bool take_call_offset(std::string_view& rest) {
  if (take(rest, "h")) return take_offset(rest);
  return take(rest, "v") && take_offset(rest) && take_offset(rest);
}

// What adjusts `this` before a virtual function counts as that function.
bool take_thunk(std::string_view& rest) {
  std::string_view after = rest;
  if (!take(after, "T")) return false;
  const bool covariant = take(after, "c");
  if (!take_call_offset(after) || (covariant && !take_call_offset(after))) return false;
  rest = after;
  return true;
}

}  // namespace

bool is_mangled(std::string_view symbol) {
  return symbol.starts_with("_Z");
}

std::string readable_symbol(std::string_view symbol) {
  std::string_view rest = symbol;
  if (!take(rest, "_Z")) return std::string(symbol);
  // Tables of a class, and guards of variables, count as the class or the variable.
  for (const std::string_view kind : {"TV", "TT", "TI", "TS", "TC", "GV", "GR", "TW", "TH"}) {
    if (take(rest, kind)) break;
  }
  take_thunk(rest);
  if (take(rest, "N")) {
    while (rest.starts_with('r') || rest.starts_with('V') || rest.starts_with('K') ||
           rest.starts_with('R') || rest.starts_with('O'))
      rest.remove_prefix(1);
  }
  std::string name = take(rest, "St") ? "std" : "";
  for (std::string_view short_form : {"Sa", "Ss", "Sb", "Si", "So", "Sd"}) {
    if (name.empty() && take(rest, short_form)) name = "std";
  }
  while (const auto part = take_source_name(rest)) {
    if (name == "std" && (*part == "__1" || *part == "__fs")) continue;
    name += (name.empty() ? "" : "::") + std::string(*part);
  }
  return name.empty() ? std::string(symbol) : name;
}

const char* purpose_of(std::string_view c_function) {
  for (const Purpose& purpose : kPurposes) {
    if (has_word(purpose.functions, c_function)) return purpose.name;
  }
  return is_mathematics(c_function) ? "mathematics" : nullptr;
}

std::vector<std::string_view> known_c_functions() {
  std::vector<std::string_view> names;
  for (const Purpose& purpose : kPurposes) {
    for (std::string_view rest = purpose.functions; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      names.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return names;
}

}  // namespace mcpac::analyzer
