// Control groups of Linux around workers: the kernel itself holds each to its memory, whatever kind it is of.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace grurun::conformance {

/// Where this process may make groups, below the one that it is in.
struct GroupPlace {
  int version = 0;  // of control groups; 0: nowhere
  std::string folder{};
  bool counts_processes = false;
  std::string reason{};  // why nowhere
};

/// Version 1: the memory controller's group of this process. Version 2: the same, where it hands the memory
/// controller on to groups below it; while it holds processes, that is the root's alone. root: where /proc
/// and /sys are.
GroupPlace find_group_place(const std::string& root = "");

/// Of the system's, as it was when this was first called.
const GroupPlace& group_place();

/// A group for each worker of a run. They are removed with the object, and by another process where this one
/// is killed before. Each process enters by itself: no other is moved, and no group changed that was there.
class MemoryGroups {
 public:
  /// So many groups of at most `bytes` each. None where they cannot be made, for 0 bytes, and where the
  /// machine or container has less for each. This process must have no other threads.
  MemoryGroups(std::size_t count, std::size_t bytes, const GroupPlace& place = group_place());
  /// The processes in the groups must have ended.
  ~MemoryGroups();
  MemoryGroups(const MemoryGroups&) = delete;
  MemoryGroups& operator=(const MemoryGroups&) = delete;

  /// Of control groups; 0: there are no groups.
  int version() const { return groups_.empty() ? 0 : version_; }

  /// Of the calling process, which has just been forked. False where the kernel lets it not.
  bool enter(std::size_t index);

  /// Whether the kernel killed a process of the group, for what the group held, since the last call.
  bool has_killed(std::size_t index);

 private:
  struct Group {
    std::string folder;
    std::uint64_t killed = 0;   // processes of it
    std::uint64_t reached = 0;  // its limit was, so often
  };

  bool make(const Group& group, bool counts_processes) const;
  bool start_remover();
  void remove();

  int version_;
  std::size_t bytes_;
  std::vector<Group> groups_;
  int alive_ = -1;  // the other process hears by it that this one has ended
  pid_t remover_ = -1;
};

}  // namespace grurun::conformance
