// SPDX-License-Identifier: Apache-2.0
#include "engine/events/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>

namespace gradstorm::events {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
protected:
    JournalTest() {
        std::string name = (fs::temp_directory_path() / "gradstorm-journal-XXXXXX").string();
        dir_ = ::mkdtemp(name.data());
    }
    ~JournalTest() override { fs::remove_all(dir_); }

    [[nodiscard]] fs::path path() const { return dir_ / "run.journal"; }

    static Event numbered(int n) { return {Instant{Nanoseconds{n}}, "n", R"({"n":)" + std::to_string(n) + '}'}; }

    /// Reads on from `offset` and collects the kinds with their times.
    ReadOutcome read(std::uint64_t offset = 0) {
        auto outcome = read_journal(
            path(), offset, [&](const Event& e) { times_.push_back(e.time.time_since_epoch().count()); },
            [&](const Chunk& c) { chunk_sizes_.push_back(c.values.size()); });
        EXPECT_TRUE(outcome) << outcome.error().message;
        return outcome.value_or(ReadOutcome{});
    }

    fs::path dir_;
    std::vector<std::int64_t> times_;
    std::vector<std::size_t> chunk_sizes_;
};

TEST_F(JournalTest, WritesAndReadsOnFromAnOffset) {
    auto journal = JournalWriter::create(path());
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->path(), path());
    ASSERT_TRUE(journal->append(numbered(1)));
    const ReadOutcome first = read();
    EXPECT_EQ(first.records, 2U);
    EXPECT_FALSE(first.torn);
    EXPECT_EQ(read(first.next_offset).records, 0U);

    ASSERT_TRUE(journal->append(Chunk{ChunkKind::iteration_times, 0, 0, 0, std::vector<std::uint64_t>(300'000, 5)}));
    ASSERT_TRUE(journal->append(numbered(2)));
    const ReadOutcome second = read(first.next_offset);
    EXPECT_EQ(second.records, 2U);
    EXPECT_EQ(second.next_offset, fs::file_size(path()));
    EXPECT_THAT(times_, testing::ElementsAre(1, 2));
    EXPECT_THAT(chunk_sizes_, testing::ElementsAre(300'000U));
}

TEST_F(JournalTest, IsPrivateAndNeverOverwritten) {
    ASSERT_TRUE(JournalWriter::create(path()));
    struct stat info{};
    ASSERT_EQ(::stat(path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    const auto again = JournalWriter::create(path());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::store);
    EXPECT_THAT(again.error().message,
                testing::AllOf(testing::HasSubstr(path().string()), testing::HasSubstr("errno 17")));
}

TEST_F(JournalTest, MissingFolderIsNamed) {
    const auto missing = JournalWriter::create(dir_ / "no" / "where.journal");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, testing::HasSubstr("No such file or directory"));
    EXPECT_FALSE(read_journal(path(), 0, [](const Event&) {}, [](const Chunk&) {}));
}

TEST_F(JournalTest, TornTailIsReadLaterWhenItBecameWhole) {
    {
        auto journal = JournalWriter::create(path());
        ASSERT_TRUE(journal->append(numbered(1)));
        ASSERT_TRUE(journal->append(numbered(2)));
    }
    std::string bytes;
    {
        std::ifstream in(path(), std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    std::ofstream(path(), std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<long>(bytes.size() - 5));
    const ReadOutcome torn = read();
    EXPECT_TRUE(torn.torn);
    EXPECT_EQ(torn.damage, "");
    EXPECT_THAT(times_, testing::ElementsAre(1));
    std::ofstream(path(), std::ios::binary | std::ios::app).write(bytes.data() + bytes.size() - 5, 5);
    EXPECT_FALSE(read(torn.next_offset).torn);
    EXPECT_THAT(times_, testing::ElementsAre(1, 2));
}

TEST_F(JournalTest, DamageInTheMiddleIsSaidWithItsPlace) {
    std::uint64_t second = 0;
    {
        auto journal = JournalWriter::create(path());
        ASSERT_TRUE(journal->append(numbered(1)));
        second = fs::file_size(path());
        ASSERT_TRUE(journal->append(numbered(2)));
        ASSERT_TRUE(journal->append(numbered(3)));
    }
    {
        std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(second + 14));
        file.put('\x55');
    }
    const ReadOutcome outcome = read();
    EXPECT_THAT(times_, testing::ElementsAre(1));
    EXPECT_EQ(outcome.next_offset, second);
    EXPECT_EQ(outcome.damage, path().string() + ": record at byte " + std::to_string(second) +
                                  " cannot be read: its checksum is wrong");
}

TEST_F(JournalTest, FullDiskIsAnErrorAndLeavesOnlyWholeRecords) {
    // A limit on file sizes stands in for a full disk: the same short write, then an error.
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        auto journal = JournalWriter::create(path());
        if (!journal || ::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(9);
        int written = 0;
        for (; written < 1000; ++written) {
            const auto done = journal->append(numbered(written));
            if (done) continue;
            const bool named = done.error().code == ErrorCode::store &&
                               done.error().message.find(path().string()) != std::string::npos &&
                               done.error().message.find("errno") != std::string::npos;
            ::_exit(named && !journal->append(Chunk{{}, 0, 0, 0, std::vector<std::uint64_t>(500, 1)}) ? 0 : 8);
        }
        ::_exit(7);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const ReadOutcome outcome = read();
    EXPECT_FALSE(outcome.torn) << "half a record was left in the file";
    EXPECT_GT(outcome.records, 10U);
}

TEST_F(JournalTest, SurvivesKillAtAnyMoment) {
    std::minstd_rand random(11);
    int rounds_with_records = 0;
    for (int round = 0; round < 20; ++round) {
        fs::remove(path());
        int pipe_ends[2];
        ASSERT_EQ(::pipe(pipe_ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            auto journal = JournalWriter::create(path());
            for (int n = 1; journal && journal->append(numbered(n)); ++n)
                if (::write(pipe_ends[1], &n, sizeof n) != sizeof n) break;
            ::_exit(1);
        }
        ::close(pipe_ends[1]);
        ::usleep(static_cast<useconds_t>(500 + random() % 4000));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        int acknowledged = 0;
        for (int n = 0; ::read(pipe_ends[0], &n, sizeof n) == sizeof n;) acknowledged = n;
        ::close(pipe_ends[0]);
        if (acknowledged > 0) ++rounds_with_records;
        if (!fs::exists(path())) continue;
        times_.clear();
        const ReadOutcome outcome = read();
        EXPECT_EQ(outcome.damage, "");
        EXPECT_GE(times_.size(), static_cast<std::size_t>(acknowledged));
        for (std::size_t i = 0; i < times_.size(); ++i) EXPECT_EQ(times_[i], static_cast<std::int64_t>(i + 1));
    }
    EXPECT_GT(rounds_with_records, 0) << "no child came as far as a record before it was killed";
}

TEST_F(JournalTest, JsonLines) {
    EXPECT_EQ(to_json_line({Instant{Nanoseconds{12}}, "warning", R"({"text":"x"})"}),
              R"({"time_ns":12,"event":"warning","text":"x"})");
    EXPECT_EQ(to_json_line({Instant{}, "idle", "{}"}), R"({"time_ns":0,"event":"idle"})");
}

}  // namespace
}  // namespace gradstorm::events
