#include "engine/kernels/machine/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tensor/error.h"
#include "tensor/sanitizers.h"

namespace grurun::kernels {
namespace {

class ParallelTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(1); }
};

INSTANTIATE_TEST_SUITE_P(Threads, ParallelTest, testing::Values(1, 2, 3, 8));

TEST_P(ParallelTest, VisitsEveryIndexOnceInRangesOfAtLeastTheGrain) {
  struct Case {
    int64_t n, grain;
  };
  for (const Case& c :
       {Case{0, 1}, {-3, 1}, {1, 1}, {7, 3}, {1000, 1}, {1000, 999}, {1000, 1000}, {65537, 64}, {10, 0}}) {
    const int64_t n = c.n, grain = c.grain;  // clang 14 captures no structured bindings
    std::vector<std::atomic<int>> visits(static_cast<size_t>(std::max<int64_t>(n, 0)));
    std::atomic<int> too_short{0};
    parallel_for(n, grain, [&](int64_t begin, int64_t end) {
      if (end - begin < grain && end != n) ++too_short;
      for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
    });
    int wrong = 0;
    for (const auto& count : visits) wrong += count != 1;
    EXPECT_EQ(wrong, 0) << "n=" << n << " grain=" << grain;
    EXPECT_EQ(too_short, 0) << "n=" << n << " grain=" << grain;
  }
}

TEST_P(ParallelTest, ManyShortLoopsInARow) {
  std::atomic<int64_t> total{0};
  for (int i = 0; i < 5000; ++i) {
    parallel_for(16, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
  }
  EXPECT_EQ(total, 5000 * 16);
}

TEST_P(ParallelTest, LoopsAfterAnIdlePauseStillRun) {
  std::atomic<int64_t> total{0};
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
  }
  EXPECT_EQ(total, 300);
}

TEST_P(ParallelTest, NestedLoopsRunSeriallyOnTheSameThread) {
  std::atomic<int> strayed{0}, visited{0};
  parallel_for(8, 1, [&](int64_t outer_begin, int64_t outer_end) {
    const auto self = std::this_thread::get_id();
    for (int64_t i = outer_begin; i < outer_end; ++i) {
      parallel_for(100, 1, [&](int64_t begin, int64_t end) {
        strayed += GetParam() > 1 && (std::this_thread::get_id() != self || begin != 0 || end != 100);
        visited += static_cast<int>(end - begin);
      });
    }
  });
  EXPECT_EQ(strayed, 0);
  EXPECT_EQ(visited, 800);
}

TEST_P(ParallelTest, AnExceptionReachesTheCallerAndThePoolSurvives) {
  for (int round = 0; round < 50; ++round) {
    std::string message;
    try {
      parallel_for(100, 1, [&](int64_t begin, int64_t end) {
        if (begin <= 57 && 57 < end) throw std::runtime_error("chunk of 57");
      });
    } catch (const std::runtime_error& e) {
      message = e.what();
    }
    ASSERT_EQ(message, "chunk of 57");
    std::atomic<int64_t> total{0};
    parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    ASSERT_EQ(total, 100);
  }
}

TEST_P(ParallelTest, LoopsOfSeveralCallersAtOnce) {
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        parallel_for(64, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 500 * 64);
}

TEST_P(ParallelTest, AForkedChildHasAPoolOfItsOwn) {
#if GRURUN_TSAN
  GTEST_SKIP() << "ThreadSanitizer does not support threads in a child of a threaded process";
#endif
  parallel_for(64, 1, [](int64_t, int64_t) {});  // the parent's workers now exist
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    std::atomic<int64_t> total{0};
    for (int i = 0; i < 100; ++i) {
      parallel_for(64, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    }
    _exit(total == 6400 && threads() == GetParam() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Parallel, OneThreadRunsTheLoopInPlace) {
  set_threads(1);
  int calls = 0;  // not atomic on purpose
  parallel_for(1'000'000, 1, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 1'000'000);
  });
  EXPECT_EQ(calls, 1);
}

TEST(Parallel, UsesTheThreadsItMay) {
  set_threads(2);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int i = 0; i < 200 && seen.size() < 2; ++i) {
    parallel_for(8, 1, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  set_threads(1);
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Parallel, SetThreads) {
  set_threads(3);
  EXPECT_EQ(threads(), 3);
  set_threads(0);
  EXPECT_GE(threads(), 1);
  set_threads(2);
  try {
    parallel_for(64, 1, [](int64_t, int64_t) { set_threads(1); });
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
  }
  EXPECT_EQ(threads(), 2);
  set_threads(1);
}

}  // namespace
}  // namespace grurun::kernels
