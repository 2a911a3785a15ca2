// Read line by line and word by word; nothing is assumed of a network, so that what is wrong with a
// file is reported with its line before anything is built from it.
#include "workloads/traces/text_layers.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 50; // a PiB; products stay far from overflow
constexpr std::int64_t most = 100'000'000;                 // NPUs, layers and such

struct NamedParallelism {
  std::string_view name;
  TextParallelism parallelism;
};
constexpr std::array named_parallelisms{
    NamedParallelism{"MICRO", TextParallelism::micro},
    NamedParallelism{"DATA", TextParallelism::data},
    NamedParallelism{"MODEL", TextParallelism::model},
    NamedParallelism{"HYBRID_DATA_MODEL", TextParallelism::data_model},
    NamedParallelism{"HYBRID_MODEL_DATA", TextParallelism::model_data},
    NamedParallelism{"HYBRID_DLRM", TextParallelism::dlrm},
    NamedParallelism{"HYBRID_DLRM_ENHANCED", TextParallelism::dlrm_enhanced},
    NamedParallelism{"HYBRID_TRANSFORMER", TextParallelism::transformer},
    NamedParallelism{"HYBRID_TRANSFORMER_FWD_IN_BCKWD", TextParallelism::transformer_checkpoints},
    NamedParallelism{"HYBRID_CUSTOMIZED", TextParallelism::customized},
    NamedParallelism{"DISTRIBUTED_INFERENCE", TextParallelism::inference},
};

struct NamedCollective {
  std::string_view name;
  CollectiveKind kind;
};
constexpr std::array collectives{
    NamedCollective{"ALLREDUCE", CollectiveKind::all_reduce},
    NamedCollective{"ALLTOALL", CollectiveKind::all_to_all},
    NamedCollective{"ALLGATHER", CollectiveKind::all_gather},
    NamedCollective{"REDUCESCATTER", CollectiveKind::reduce_scatter},
};

struct Word {
  std::string_view text;
  TextPlace place;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Parser {
public:
  Parser(std::string_view text, const std::string& file, Time unit) : file_(file), unit_(unit) {
    std::uint32_t line = 0;
    for (const std::string_view row : split(text, '\n')) {
      ++line;
      std::vector<Word> words;
      for (std::size_t at = 0; at < row.size(); ++at) {
        if (is_space(row[at])) continue;
        std::size_t end = at;
        while (end < row.size() && !is_space(row[end])) ++end;
        words.push_back({row.substr(at, end - at), {line, static_cast<std::uint32_t>(at + 1)}});
        at = end;
      }
      if (!words.empty()) lines_.push_back(std::move(words));
    }
    end_ = {line, 1};
  }

  TextFile parse() {
    if (lines_.empty()) fail_at(file_, {1, 1}, "it is empty");
    parse_header(lines_[0]);
    if (lines_.size() < 2) fail_at(file_, end_, "the number of layers is missing");
    const std::vector<Word>& second = lines_[1];
    const std::int64_t count = integer(second[0], "number of layers", 1, most);
    if (second.size() > 1)
      fail_at(file_, second[1].place,
              fmt::format("\"{}\" after the number of layers", second[1].text));
    const auto layers = static_cast<std::int64_t>(lines_.size()) - 2;
    if (layers != count)
      fail_at(file_, second[0].place,
              fmt::format("it has {} layers, not the {} that it says", layers, count));
    for (std::size_t i = 2; i < lines_.size(); ++i) parse_layer(lines_[i]);
    mark(checkpoints_, &TextLayer::is_checkpoint);
    mark(recomputes_, &TextLayer::needs_recompute);
    return std::move(made_);
  }

private:
  [[nodiscard]] std::int64_t integer(const Word& word, std::string_view what, std::int64_t low,
                                     std::int64_t high) const {
    try {
      return parse_integer(word.text, what, low, high);
    } catch (const InputError& e) {
      fail_at(file_, word.place, e.what());
    }
  }

  [[nodiscard]] TextParallelism parallelism_of(const Word& word) const {
    std::vector<std::string> names;
    for (const NamedParallelism& row : named_parallelisms) {
      if (row.name == word.text) return row.parallelism;
      names.emplace_back(row.name);
    }
    fail_at(file_, word.place, unknown_name("parallelism", word.text, names));
  }

  void parse_header(const std::vector<Word>& words) {
    made_.parallelism = parallelism_of(words[0]);
    made_.parallelism_place = words[0].place;
    at_ = 1;
    switch (made_.parallelism) {
    case TextParallelism::dlrm:
    case TextParallelism::dlrm_enhanced: parse_last_bottom_layer(words); break;
    case TextParallelism::transformer:
    case TextParallelism::transformer_checkpoints:
      while (at_ < words.size()) parse_key(words);
      break;
    default: break;
    }
    if (at_ < words.size())
      fail_at(file_, words[at_].place,
              fmt::format("\"{}\" after {}, which has nothing behind it", words[at_].text,
                          words[0].text));
    if (made_.pipeline.value_or(1) > 1 && made_.pipeline_size == 0)
      fail_at(file_, words[0].place, "with pp above 1 it needs pp_comm, in bytes");
  }

  /// "HYBRID_DLRM 4", and in SimAI's files "HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 4".
  void parse_last_bottom_layer(const std::vector<Word>& words) {
    if (at_ < words.size() && key_of(words[at_]) == "DLRM_LAST_BOTTOM_LAYER") ++at_;
    made_.last_bottom_layer = next(words, "last bottom layer", 0);
  }

  static std::string_view key_of(const Word& word) {
    return word.text.ends_with(':') ? word.text.substr(0, word.text.size() - 1) : word.text;
  }

  /// The number behind the word before.
  std::uint32_t next(const std::vector<Word>& words, std::string_view what, std::int64_t low) {
    if (at_ == words.size())
      fail_at(file_, words.back().place, fmt::format("the {} is missing", what));
    return static_cast<std::uint32_t>(integer(words[at_++], what, low, most));
  }

  void parse_key(const std::vector<Word>& words) {
    const Word& word = words[at_++];
    const std::string_view key = key_of(word);
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end())
      fail_at(file_, word.place, fmt::format("{} is there twice", key));
    keys_.emplace_back(key);
    const auto number = [&] { return next(words, fmt::format("number of {}", key), 1); };
    if (key == "model_parallel_NPU_group") {
      made_.model_group = number();
      return;
    }
    if (key == "checkpoints") {
      checkpoints_ = layers_behind(words, key);
      return;
    }
    if (key == "checkpoint_initiates") {
      recomputes_ = layers_behind(words, key);
      return;
    }
    made_.is_simai = true;
    if (key == "ep") {
      made_.expert = number();
    } else if (key == "pp") {
      made_.pipeline = number();
    } else if (key == "vpp") {
      (void)number();
    } else if (key == "ga") {
      made_.accumulation = number();
    } else if (key == "all_gpus") {
      made_.npus = number();
    } else if (key == "pp_comm") {
      if (at_ == words.size()) fail_at(file_, word.place, "the number of pp_comm is missing");
      made_.pipeline_size = integer(words[at_++], "pp_comm", 0, most_bytes);
    } else {
      const std::vector<std::string> known{
          "model_parallel_NPU_group", "ep",     "pp", "vpp", "ga", "all_gpus", "checkpoints",
          "checkpoint_initiates",     "pp_comm"};
      fail_at(file_, word.place, unknown_name("word", key, known));
    }
  }

  /// "checkpoints: 2 0 4": how many, then which.
  std::vector<std::pair<Word, std::uint32_t>> layers_behind(const std::vector<Word>& words,
                                                            std::string_view key) {
    std::vector<std::pair<Word, std::uint32_t>> found;
    for (std::uint32_t left = next(words, fmt::format("number of {}", key), 0); left > 0; --left) {
      const std::uint32_t layer = next(words, fmt::format("layer of {}", key), 0);
      found.emplace_back(words[at_ - 1], layer);
    }
    return found;
  }

  void mark(const std::vector<std::pair<Word, std::uint32_t>>& layers, bool TextLayer::*flag) {
    for (const auto& [word, layer] : layers) {
      if (layer >= made_.layers.size())
        fail_at(file_, word.place,
                fmt::format("layer {} isn't there (0 .. {})", layer, made_.layers.size() - 1));
      made_.layers[layer].*flag = true;
    }
  }

  void parse_layer(const std::vector<Word>& words) {
    constexpr std::size_t usual_columns = 12;
    const bool is_customized = made_.parallelism == TextParallelism::customized;
    const std::size_t columns = usual_columns + (is_customized ? 1 : 0);
    if (words.size() != columns)
      fail_at(file_, words[std::min(words.size() - 1, columns)].place,
              fmt::format("the layer has {} columns, not {}", words.size(), columns));
    TextLayer layer;
    layer.name = words[0].text;
    layer.parallelism = is_customized ? parallelism_of(words[usual_columns]) : made_.parallelism;
    if (is_customized && layer.parallelism == TextParallelism::customized)
      fail_at(file_, words[usual_columns].place, "a layer can't be HYBRID_CUSTOMIZED itself");
    (void)integer(words[1], "dependency", -1, most);
    for (std::size_t phase = 0; phase < text_phase_count; ++phase) {
      const std::size_t first = 2 + 3 * phase;
      layer.compute[phase] = {integer(words[first], "computing time", 0, longest_ps / unit_.ps) *
                              unit_.ps};
      layer.communication[phase] = communication_of(words[first + 1], words[first + 2]);
    }
    (void)integer(words[usual_columns - 1], "update time", 0, INT64_MAX);
    made_.layers.push_back(std::move(layer));
  }

  [[nodiscard]] TextCommunication communication_of(const Word& kind, const Word& bytes) const {
    const std::int64_t size = integer(bytes, "communication size", 0, most_bytes);
    if (kind.text == "NONE") return {};
    if (kind.text == "ALLREDUCEALLTOALL")
      fail_at(file_, kind.place,
              "ALLREDUCEALLTOALL is not one collective, and how its bytes are shared isn't known");
    TextCommunication made;
    made.place = kind.place;
    std::string_view name = kind.text;
    for (const auto& [suffix, group] :
         {std::pair{std::string_view("_DP_EP"), TextGroup::data_expert},
          std::pair{std::string_view("_EP"), TextGroup::expert}}) {
      if (!name.ends_with(suffix)) continue;
      name.remove_suffix(suffix.size());
      made.group = group;
      break;
    }
    const auto known = std::find_if(collectives.begin(), collectives.end(),
                                    [&](const NamedCollective& row) { return row.name == name; });
    if (known == collectives.end()) {
      std::vector<std::string> names{"NONE"};
      for (const NamedCollective& row : collectives) names.emplace_back(row.name);
      for (const NamedCollective& row : collectives)
        for (const char* suffix : {"_EP", "_DP_EP"})
          names.push_back(std::string(row.name) + suffix);
      fail_at(file_, kind.place, unknown_name("communication", kind.text, names));
    }
    made.kind = known->kind;
    if (size == 0 && !made_.is_simai) // SimAI's generator writes such, and means none
      fail_at(file_, bytes.place, fmt::format("a zero-byte {} (at least 1 byte)", kind.text));
    made.size = size;
    return made;
  }

  const std::string& file_;
  Time unit_;
  std::vector<std::vector<Word>> lines_; // without empty ones
  TextPlace end_;
  std::size_t at_ = 0; // word of the header
  std::vector<std::string> keys_;
  std::vector<std::pair<Word, std::uint32_t>> checkpoints_, recomputes_;
  TextFile made_;
};

} // namespace

std::string_view to_text(TextParallelism parallelism) {
  return std::find_if(named_parallelisms.begin(), named_parallelisms.end(),
                      [&](const NamedParallelism& row) { return row.parallelism == parallelism; })
      ->name;
}

bool TextLayer::is_like(const TextLayer& other) const {
  return name == other.name && parallelism == other.parallelism &&
         is_checkpoint == other.is_checkpoint && needs_recompute == other.needs_recompute &&
         std::equal(communication.begin(), communication.end(), other.communication.begin(),
                    [](const auto& a, const auto& b) { return a.is_like(b); });
}

TextFile parse_text_layers(std::string_view text, const std::string& file, Time unit) {
  return Parser(text, file, unit).parse();
}

void fail_at(const std::string& file, TextPlace place, const std::string& message) {
  throw InputError(fmt::format("{}:{}:{}: {}", file, place.line, place.column, message));
}

} // namespace tutti
