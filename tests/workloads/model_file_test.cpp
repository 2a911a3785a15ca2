// The format of models: repetitions, groups and blocks, and what is refused.
#include "tests/workloads/model_text.hpp"

#include "tests/catch.hpp"
#include "tests/refusals.hpp"

#include <string>
#include <vector>

namespace model_file_test {

using namespace tutti;

namespace {

const std::string head = "name = \"m\"\n";
const std::string linear = "[[layers]]\nkind = \"linear\"\ninputs = 2\noutputs = 2\n";

std::string block(const std::string& more) {
  return head + "[[layers]]\nkind = \"transformer\"\nfeed_forward = 8\nsequence = 4\n" + more;
}

} // namespace

TEST_CASE("a model's head, and what it is by default") {
  const Model plain = model_of(linear);
  CHECK(plain.sample == "sample");
  CHECK(plain.item == "sample");
  CHECK(plain.items_per_sample == 1);
  const Model full = model_of("sample = \"sequence\"\nitem = \"token\"\nitems_per_sample = 7\n"
                              "note = \"n\"\nsource = \"s\"\n[published]\nparameters = 6\n" +
                              linear);
  CHECK(full.sample == "sequence");
  CHECK(full.item == "token");
  CHECK(full.items_per_sample == 7);
  CHECK(full.note == "n");
  CHECK(full.source == "s");
  CHECK(full.published.parameters == 6);
  CHECK(full.parameters() == 6);
}

TEST_CASE("a repetition of a layer is a block, and so is one of a group") {
  const Model model = model_of(
      linear + "name = \"in\"\nrepeat = 2\n"
               "[[layers]]\nkind = \"group\"\nname = \"pair\"\nrepeat = 2\nlayers = [\n"
               "  { kind = \"linear\", name = \"a\", inputs = 1, outputs = 1, repeat = 2 },\n"
               "  { kind = \"linear\", name = \"b\", inputs = 1, outputs = 1 },\n]\n");
  std::vector<std::string> names;
  std::vector<std::uint32_t> blocks;
  for (const Layer& layer : model.layers) {
    names.push_back(layer.name);
    blocks.push_back(layer.block);
  }
  CHECK(names == std::vector<std::string>{"in0", "in1", "pair0.a0", "pair0.a1", "pair0.b",
                                          "pair1.a0", "pair1.a1", "pair1.b"});
  CHECK(blocks == std::vector<std::uint32_t>{0, 1, 2, 2, 2, 3, 3, 3});
}

TEST_CASE("models that are refused, with the place") {
  const RefusalRows rows = {
      {"", "m.toml:1:1: a model needs layers"},
      {"colour = 1\n", "m.toml:2:1: unknown key \"colour\" (known: name, note, source, sample, "
                       "item, items_per_sample, published, layers)"},
      {"[[layers]]\nkind = 'linaer'\n",
       "m.toml:3:8: unknown kind of layer \"linaer\" (known: transformer, embedding, output, "
       "linear, convolution, lstm, additive_attention, lookup, interaction, custom, group; did you "
       "mean \"linear\"?)"},
      {linear + "input = 3\n",
       "m.toml:6:1: unknown key \"input\" (known: kind, name, repeat, times, inputs, outputs, "
       "positions, bias, norm, activation; did you mean \"inputs\"?)"},
      {"[[layers]]\nkind = 'linear'\ninputs = 2\n",
       "m.toml:2:1: this table needs a key \"outputs\" (it has: kind, inputs)"},
      {"[[layers]]\nkind = 'linear'\ninputs = 0\noutputs = 1\n",
       "m.toml:4:10: 0 is out of range (1 .. 1099511627776)"},
      {linear + linear, "m.toml:6:1: two layers are called \"linear\"; name one of them"},
      {linear + "repeat = 0\n", "m.toml:6:10: 0 is out of range (1 .. 100000)"},
      {linear + "repeat = 100000\n" + linear + "name = 'x'\n",
       "m.toml:7:1: more than 100000 layers"},
      {"[published]\nparameters = -1\n" + linear, "m.toml:3:14: parameters must not be negative"},
  };
  check_whole_refusals([&](const std::string& more) { return model_message(head + more); }, rows);
  CHECK(model_message(linear) == "m.toml:1:1: this table needs a key \"name\" (it has: layers)");
}

TEST_CASE("layers whose dimensions don't fit are refused") {
  CHECK(model_message(block("hidden = 10\nheads = 3\n")) ==
        "m.toml:7:9: 3 heads don't divide hidden 10 (or give head_size)");
  CHECK(model_message(block("hidden = 10\nheads = 3\nhead_size = 4\n")).empty());
  CHECK(model_message(block("hidden = 8\nheads = 4\nkv_heads = 3\n")) ==
        "m.toml:8:12: 3 kv_heads don't divide 4 heads");
  CHECK(model_message(block("hidden = 8\nheads = 4\nexperts = 2\n")) ==
        "m.toml:2:1: this table needs a key \"top_k\" (it has: kind, feed_forward, sequence, "
        "hidden, heads, experts)");
  CHECK(model_message(block("hidden = 8\nheads = 4\nexperts = 2\ntop_k = 3\n")) ==
        "m.toml:9:9: top_k 3 exceeds 2 experts");
  CHECK(model_message(block("hidden = 8\nheads = 4\nnorm = \"batch\"\n")) ==
        "m.toml:8:8: unknown norm \"batch\" (known: layer, rms, none)");
  CHECK(model_message(block("hidden = 8\nheads = 4\nexperts = 2\ntop_k = 1\n") +
                      "[[layers]]\nkind = \"lookup\"\nrows = [3]\nwidth = 1\nshards = 4\n") ==
        "m.toml:14:10: 4 experts, but an earlier layer has 2");
  CHECK(model_message(block("hidden = 8\nheads = 4\ntimes = { forward = \"1ms\" }\n")) ==
        "m.toml:8:9: a transformer makes 2 layers, which have no times of their own");
  CHECK(model_message(head + linear + "times = { forward = \"1ms\" }\n") ==
        "m.toml:6:9: this table needs a key \"input_gradient\" (it has: forward)");
  const std::string convolution = "[[layers]]\nkind = \"convolution\"\nimage = 4\nkernel = 1\n";
  const RefusalRows rows = {
      {head + convolution + "channels = [3]\n", "6:12: channels are [in, out]"},
      {head + convolution + "channels = [4, 6]\ngroups = 4\n",
       "7:10: 4 groups don't divide 4 and 6 channels"},
      {head + "[[layers]]\nkind = 'output'\nvocabulary = 5\nscored = 6\nhidden = 1\nsequence = 1\n",
       "5:10: more words scored than there are"},
      {head + "[[layers]]\nkind = 'custom'\nwork = 'magic'\n",
       "4:8: unknown work \"magic\" (known: matmul, convolution, attention, elementwise, lookup)"},
      {head + "[[layers]]\nkind = 'group'\nlayers = [ { kind = 'group', layers = [] } ]\n",
       "4:12: a group can't hold a group"},
      {head + "[[layers]]\nkind = 'group'\n", "2:1: a group needs layers"},
  };
  check_whole_refusals(model_message, rows, "m.toml:");
}

} // namespace model_file_test
