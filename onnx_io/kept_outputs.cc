#include "onnx_io/kept_outputs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "onnx_io/output_file.h"
#include "onnx_io/remove_folder.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

namespace fs = std::filesystem;

enum class Wish : std::uint32_t { replace, drop, remove_former };

struct Request {
  std::uint32_t number;
  Wish wish;
};

struct Kept {
  std::string path;
  std::string place;  // path, or where it leads as a link to nothing
  std::string beside;
  Descriptor file{-1};
  int error = 0;
  bool is_there = true;  // beside its place
};

/// Of this process. What it asks for goes one way, errno of what became of it the other.
struct Keeping {
  std::vector<Kept> files;
  std::vector<std::string> made;  // folders, the outer ones first
  std::vector<std::string> scratch;
  Descriptor asks{-1};
  Descriptor hears{-1};
  std::mutex one_asks;
};

Keeping& keeping() {
  static Keeping of_process;
  return of_process;
}

int grant(Keeping& all, const Request& request) {
  if (request.number >= all.files.size()) return EINVAL;
  Kept& kept = all.files[request.number];
  if (request.wish == Wish::remove_former) return ::unlink(kept.place.c_str()) == 0 ? 0 : errno;
  if (!kept.is_there) return ENOENT;
  if (request.wish == Wish::replace && ::rename(kept.beside.c_str(), kept.place.c_str()) != 0) return errno;
  if (request.wish == Wish::drop) ::unlink(kept.beside.c_str());
  kept.is_there = false;
  return 0;
}

void close_all_but(int first, int second) {
  const auto close_from = [](unsigned from, unsigned to) {
    if (from <= to) syscall(SYS_close_range, from, to, 0);
  };
  const unsigned low = static_cast<unsigned>(std::min(first, second)),
                 high = static_cast<unsigned>(std::max(first, second));
  if (low > 0) close_from(0, low - 1);
  close_from(low + 1, high - 1);
  close_from(high + 1, UINT_MAX);
}

/// The other process. It ends when nobody can ask any more.
[[noreturn]] void keep(Keeping& all, int hears, int answers) {
  // What ends the whole group, of a terminal or of timeout, is not to end this one: what is left behind is
  // removed.
  ::setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  close_all_but(hears, answers);
  for (;;) {
    Request request{};
    const ssize_t got = ::read(hears, &request, sizeof request);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof request) break;
    const int error = grant(all, request);
    if (::write(answers, &error, sizeof error) != sizeof error) break;
  }
  for (const Kept& kept : all.files)
    if (kept.is_there) ::unlink(kept.beside.c_str());
  for (const std::string& folder : all.scratch) remove_folder(folder);
  for (auto folder = all.made.rbegin(); folder != all.made.rend(); ++folder) ::rmdir(folder->c_str());
  _exit(0);
}

/// False, with the reason in errno, where it is not done.
bool ask(std::size_t number, Wish wish) {
  Keeping& all = keeping();
  const std::lock_guard lock(all.one_asks);
  const Request request{static_cast<std::uint32_t>(number), wish};
  int error = 0;
  if (::write(all.asks.get(), &request, sizeof request) != sizeof request) return false;
  ssize_t got = 0;
  do {
    got = ::read(all.hears.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  errno = got == sizeof error ? error : EIO;
  return got == sizeof error && error == 0;
}

/// Where a link leads that leads to nothing; all else is its own place.
std::string place_of(const std::string& path) {
  std::error_code error;
  fs::path place = path;
  constexpr int most_links = 40;
  for (int i = 0; i < most_links && fs::is_symlink(place, error) && !fs::exists(place, error); ++i)
    place = place.parent_path() / fs::read_symlink(place, error);
  return place.string();
}

void make_folders(const std::string& path, std::vector<std::string>& made) {
  fs::path at;
  for (const fs::path& part : fs::path(path)) {
    at /= part;
    if (!part.empty() && ::mkdir(at.c_str(), 0777) == 0) made.push_back(at.string());
  }
}

[[noreturn]] void no_process(const char* what) {
  fail(ErrorKind::limit, "no {} to put files in their places: {}; --sandbox off needs none", what,
       std::strerror(errno));
}

void start_process(Keeping& all) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0) no_process("pipe");
  Descriptor hears(to[0]), asks(to[1]);
  if (::pipe2(from, O_CLOEXEC) != 0) no_process("pipe");
  Descriptor answer(from[0]), answers(from[1]);
  const pid_t child = ::fork();
  if (child < 0) no_process("process");
  if (child == 0) keep(all, hears.get(), answers.get());
  all.asks = std::move(asks);
  all.hears = std::move(answer);
}

}  // namespace

std::vector<std::string> keep_outputs(const OutputPlaces& places) {
  Keeping& all = keeping();
  std::vector<std::string> in_place;
  for (const std::string& path : places.files) {
    Kept kept;
    kept.path = path;
    kept.place = place_of(path);
    kept.file = open_beside(kept.place, kept.beside);
    kept.error = kept.file.valid() ? 0 : errno;
    kept.is_there = kept.file.valid();
    struct stat info {};
    if (!kept.is_there && ::lstat(kept.place.c_str(), &info) == 0)
      in_place.push_back(path);
    else
      all.files.push_back(std::move(kept));
  }
  for (const std::string& folder : places.folders) make_folders(folder, all.made);
  all.scratch = places.scratch;
  if (all.files.empty() && all.made.empty() && all.scratch.empty()) return in_place;
  try {
    start_process(all);
  } catch (const Error&) {
    for (const Kept& kept : all.files)
      if (kept.is_there) ::unlink(kept.beside.c_str());
    throw;
  }
  return in_place;
}

std::optional<std::size_t> kept_output(const std::string& path) {
  const std::vector<Kept>& files = keeping().files;
  const auto found = std::ranges::find(files, path, &Kept::path);
  if (found == files.end()) return std::nullopt;
  return static_cast<std::size_t>(found - files.begin());
}

bool is_open(std::size_t number) {
  return keeping().files.at(number).file.valid();
}

Descriptor take_kept(std::size_t number) {
  Kept& kept = keeping().files.at(number);
  errno = kept.error;
  kept.error = EBUSY;
  return std::move(kept.file);
}

bool replace_by_kept(std::size_t number) {
  return ask(number, Wish::replace);
}

void drop_kept(std::size_t number) {
  ask(number, Wish::drop);
}

void remove_before_kept(std::size_t number) {
  ask(number, Wish::remove_former);
}

void end_kept_outputs() {
  Keeping& all = keeping();
  if (!all.asks.valid()) return;
  all.asks.close();
  char rest[64];
  ssize_t got = 0;
  do {
    got = ::read(all.hears.get(), rest, sizeof rest);
  } while (got > 0 || (got < 0 && errno == EINTR));
}

}  // namespace grurun::onnx_io
