// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without a fuzzer: every file of a corpus, then a fixed number of seeded mutations of those files.
// The same seed feeds the same inputs on every machine, so a failure here is repeatable with any compiler; searching
// for new inputs is libFuzzer's work (GRADSTORM_FUZZ).
//
//     NAME CORPUS_FOLDER RUNS [SEED]
//
// After a crash the input that caused it lies in `NAME.input` in the working folder.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kLongestInput = 1U << 16U;

std::vector<Input> read_corpus(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());  // the same order on every file system
    std::vector<Input> corpus;
    for (const auto& file : files) {
        std::ifstream stream(file, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
    return corpus;
}

class Mutator {
public:
    Mutator(const std::vector<Input>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed) {}

    Input next() {
        Input input = corpus_[below(corpus_.size())];
        for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(input);
        if (input.size() > kLongestInput) input.resize(kLongestInput);
        return input;
    }

private:
    /// Uniform in 0..limit-1 as far as a test needs; a standard distribution would differ between libraries.
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

    std::uint8_t any_byte() { return static_cast<std::uint8_t>(random_() & 0xFFU); }

    void edit(Input& input) {
        const std::size_t place = below(input.size() + 1);
        const auto at = input.begin() + static_cast<std::ptrdiff_t>(place);
        switch (below(6)) {
            case 0:  // flip a bit
                if (at != input.end()) *at ^= static_cast<std::uint8_t>(1U << below(8));
                break;
            case 1:  // a byte where lengths and signs break
                if (at != input.end()) *at = kEdgeBytes[below(std::size(kEdgeBytes))];
                break;
            case 2: input.insert(at, any_byte()); break;
            case 3: input.erase(at, input.end()); break;  // cut short
            case 4: {                                     // the end of another file
                const Input& other = corpus_[below(corpus_.size())];
                const auto from = other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1));
                input.erase(at, input.end());
                input.insert(input.end(), from, other.end());
                break;
            }
            default: {  // a stretch twice
                const Input stretch(at, at + static_cast<std::ptrdiff_t>(below(input.size() - place + 1)));
                input.insert(input.begin() + static_cast<std::ptrdiff_t>(place), stretch.begin(), stretch.end());
                break;
            }
        }
    }

    static constexpr std::uint8_t kEdgeBytes[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF, '"', '\n', '[', '='};

    const std::vector<Input>& corpus_;
    std::mt19937_64 random_;
};

/// Keeps the input in hand in a file, so that a crash of any kind leaves it behind; two system calls an input.
class InputInHand {
public:
    explicit InputInHand(std::string path)
        : path_(std::move(path)), file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
    InputInHand(const InputInHand&) = delete;
    InputInHand& operator=(const InputInHand&) = delete;
    ~InputInHand() {
        if (file_ >= 0) close(file_);
        unlink(path_.c_str());
    }

    [[nodiscard]] bool keep(const Input& input) const {
        return file_ >= 0 && ftruncate(file_, 0) == 0 &&
               pwrite(file_, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size());
    }

private:
    std::string path_;
    int file_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc > 4) {
        std::fprintf(stderr, "usage: %s CORPUS_FOLDER RUNS [SEED]\n", argv[0]);
        return 4;
    }
    const std::uint64_t seed = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 1;
    const std::vector<Input> corpus = read_corpus(argv[1]);
    if (corpus.empty()) {
        std::fprintf(stderr, "%s: no file in the corpus, a fuzz test without one proves nothing\n", argv[1]);
        return 4;
    }
    const std::string kept = std::filesystem::path(argv[0]).filename().string() + ".input";
    const InputInHand in_hand(kept);
    const auto run_one = [&](const Input& input) {
        if (!in_hand.keep(input)) {
            std::fprintf(stderr, "%s: cannot write the input in hand\n", kept.c_str());
            std::exit(3);
        }
        LLVMFuzzerTestOneInput(input.data(), input.size());
    };
    for (const Input& input : corpus) run_one(input);
    Mutator mutator(corpus, seed);
    const std::uint64_t runs = std::strtoull(argv[2], nullptr, 10);
    for (std::uint64_t run = 0; run < runs; ++run) run_one(mutator.next());
    std::printf("%zu files and %llu mutations, seed %llu: no failure\n", corpus.size(),
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(seed));
    return 0;
}
