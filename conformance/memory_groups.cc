#include "conformance/memory_groups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "conformance/privileges.h"
#include "onnx_io/bytes.h"
#include "tensor/memory/container_limits.h"

namespace grurun::conformance {

namespace {

/// Threads of a case, and some more: a process that starts others without end is stopped.
constexpr std::size_t most_processes = 4096;

std::string whole_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  return std::any_of(std::istream_iterator<std::string>(words), {},
                     [&](const std::string& found) { return found == word; });
}

/// Of lines as "oom_kill 1"; 0 where there is none of the name.
std::uint64_t count_after(const std::string& text, std::string_view name) {
  std::istringstream words(text);
  std::uint64_t count = 0;
  for (std::string found; words >> found >> count;)
    if (found == name) return count;
  return 0;
}

/// In one piece, as the kernel wants it.
bool write_number(const std::string& path, std::size_t number) {
  std::ofstream file(path);
  file << number;
  return static_cast<bool>(file.flush());
}

/// The group's folder as the kernel names it, below the mount; or the mount, where a container sees it as its
/// root. Empty unless this process is in it: in any other a limit of its own group would not hold.
std::string own_group(const std::string& mount, const std::string& group) {
  for (const std::string& folder : {mount + (group == "/" ? "" : group), mount})
    if (has_word(whole_text(folder + "/cgroup.procs"), std::to_string(getpid()))) return folder;
  return {};
}

/// The group of this process under a controller: "" is version 2. "4:memory:/box", "0::/box".
std::string group_of(const std::string& root, std::string_view controller) {
  std::istringstream lines(whole_text(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find(fmt::format(",{},", controller)) != line.npos) return line.substr(second + 1);
  }
  return {};
}

GroupPlace place_in(int version, const std::string& mount, const std::string& group) {
  GroupPlace place;
  place.folder = own_group(mount, group);
  if (place.folder.empty()) {
    place.reason = "the group of this process is not mounted";
  } else if (::access(place.folder.c_str(), W_OK) != 0) {
    place.reason = std::string("no rights: ") + std::strerror(errno);
  } else if (version == 1 && !has_word(whole_text(place.folder + "/memory.use_hierarchy"), "1")) {
    place.reason = "limits of the group around would not hold";
  } else if (version == 2) {
    const std::string handed_on = whole_text(place.folder + "/cgroup.subtree_control");
    place.counts_processes = has_word(handed_on, "pids");
    if (!has_word(handed_on, "memory")) place.reason = "the memory controller is not handed on";
  }
  if (place.reason.empty()) place.version = version;
  return place;
}

/// A process in it may take a moment to end.
void remove_group(const std::string& folder) {
  constexpr useconds_t pause = 10'000;
  for (int tries = 0; tries < 1000; ++tries) {
    if (::rmdir(folder.c_str()) == 0 || errno != EBUSY) return;
    ::usleep(pause);
  }
}

}  // namespace

GroupPlace find_group_place(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  if (const std::string group = group_of(root, "memory"); !group.empty())
    return place_in(1, mount + "/memory", group);
  if (const std::string group = group_of(root, ""); !group.empty()) return place_in(2, mount, group);
  GroupPlace nowhere;
  nowhere.reason = "this system has none";
  return nowhere;
}

const GroupPlace& group_place() {
  static const GroupPlace place = find_group_place();
  return place;
}

MemoryGroups::MemoryGroups(std::size_t count, std::size_t bytes, const GroupPlace& place)
    : version_(place.version), bytes_(bytes) {
  // To enter one takes the kernel 5 ms and more.
  if (version_ == 0 || bytes == 0 || count == 0 || bytes >= usable_memory() / count) return;
  for (std::size_t i = 0; i < count; ++i)
    groups_.push_back({fmt::format("{}/grurun-{}-{}", place.folder, getpid(), i)});
  // It is there before what it removes.
  const auto is_made = [&](const Group& group) { return make(group, place.counts_processes); };
  if (start_remover() && std::ranges::all_of(groups_, is_made)) return;
  remove();
  groups_.clear();
}

MemoryGroups::~MemoryGroups() {
  remove();
}

bool MemoryGroups::make(const Group& group, bool counts_processes) const {
  if (::mkdir(group.folder.c_str(), 0755) != 0) return false;
  if (counts_processes) write_number(group.folder + "/pids.max", most_processes);
  // What is swapped out counts, too, where the kernel counts it.
  if (version_ == 2) {
    write_number(group.folder + "/memory.swap.max", 0);
    return write_number(group.folder + "/memory.max", bytes_);
  }
  if (!write_number(group.folder + "/memory.limit_in_bytes", bytes_)) return false;
  write_number(group.folder + "/memory.memsw.limit_in_bytes", bytes_);
  return true;
}

bool MemoryGroups::start_remover() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  onnx_io::Descriptor hears(ends[0]);
  alive_ = ends[1];
  remover_ = ::fork();
  if (remover_ != 0) return remover_ > 0;
  // What ends the whole group of processes, of a terminal or of timeout, is not to end this one.
  ::setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  try {
    keep_only(hears.get());
  } catch (const std::exception&) {
    ::close(alive_);
  }
  ::close(STDERR_FILENO);
  char nothing = 0;
  while (::read(hears.get(), &nothing, 1) < 0 && errno == EINTR) {
  }
  for (const Group& group : groups_) remove_group(group.folder);
  _exit(0);
}

void MemoryGroups::remove() {
  for (const Group& group : groups_) remove_group(group.folder);
  if (alive_ >= 0) ::close(alive_);
  alive_ = -1;
  while (remover_ > 0 && ::waitpid(remover_, nullptr, 0) < 0 && errno == EINTR) {
  }
  remover_ = -1;
}

bool MemoryGroups::enter(std::size_t index) {
  if (groups_.empty()) return false;
  ::close(alive_);
  alive_ = -1;
  return write_number(groups_[index].folder + "/cgroup.procs", 0);  // 0: the one that writes
}

bool MemoryGroups::has_killed(std::size_t index) {
  if (groups_.empty()) return false;
  Group& group = groups_[index];
  std::uint64_t killed = 0, reached = 0;
  if (version_ == 2) {
    const std::string events = whole_text(group.folder + "/memory.events");
    killed = count_after(events, "oom_kill");
    reached = count_after(events, "oom");
  } else {
    killed = count_after(whole_text(group.folder + "/memory.oom_control"), "oom_kill");
    // Newer kernels count no failures here. What did not fit was a few pages.
    constexpr std::size_t few_pages = std::size_t{1} << 20;
    std::size_t most = 0;
    std::ifstream(group.folder + "/memory.max_usage_in_bytes") >> most;
    reached = group.reached + (most + few_pages > bytes_ ? 1 : 0);
  }
  // What is killed for a limit of a group around, or for the machine's, has not reached this one's.
  const bool is_own = killed > group.killed && reached > group.reached;
  group.killed = killed;
  group.reached = reached;
  return is_own;
}

}  // namespace grurun::conformance
