// MSCCL files written by hand, in the forms that tools write them in.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tutti::msccl_samples {

/// The text with the n-th (from 0) `what` replaced. Unchanged where there is none.
inline std::string replaced(std::string_view text, std::string_view what, std::string_view by,
                            int n = 0) {
  std::string made(text);
  std::size_t at = made.find(what);
  for (; n > 0 && at != std::string::npos; --n) at = made.find(what, at + 1);
  if (at != std::string::npos) made.replace(at, what.size(), by);
  return made;
}

/// Short words for what most elements have.
inline std::string expanded(std::string text) {
  constexpr std::array<std::array<std::string_view, 2>, 7> words{
      {{"UNTOLD", R"(hasdep="0")"},
       {"TOLD", R"(hasdep="1")"},
       {"ALONE", R"(depid="-1" deps="-1" hasdep="0")"},
       {"UNIT", R"(cnt="1")"},
       {"WINDOW", R"(outofplace="1" minBytes="0" maxBytes="1024")"},
       {"TWO", R"(nchannels="1" nchunksperloop="2" ngpus="2")"},
       {"THREE", R"(nchannels="1" nchunksperloop="3" ngpus="3")"}}};
  for (const auto& [word, meaning] : words)
    while (text.find(word) != std::string::npos) text = replaced(text, word, meaning);
  return text;
}

/// Each rank sends its own shard and passes on the other one.
inline const std::string ring_all_gather = expanded(R"(<?xml version="1.0"?>
<!-- three ranks -->
<algo name="ring" proto="Simple" THREE coll="allgather" inplace="0" WINDOW>
  <gpu id="0" i_chunks="1" o_chunks="3" s_chunks="0">
    <tb id="0" send="1" recv="2" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
      <step s="1" type="rcs" srcbuf="i" srcoff="0" dstbuf="o" dstoff="2" UNIT ALONE/>
      <step s="2" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" UNIT ALONE/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="3" s_chunks="0">
    <tb id="0" send="2" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" UNIT ALONE/>
      <step s="1" type="rcs" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
      <step s="2" type="r" srcbuf="o" srcoff="2" dstbuf="o" dstoff="2" UNIT ALONE/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" UNIT ALONE/>
    </tb>
  </gpu>
  <gpu id="2" i_chunks="1" o_chunks="3" s_chunks="0">
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="2" UNIT ALONE/>
    </tb>
    <tb id="0" send="0" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="2" UNIT ALONE/>
      <step s="1" type="rcs" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" UNIT ALONE/>
      <step s="2" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
    </tb>
  </gpu>
</algo>
)");

/// Reduce-scatter round the ring, then the full sums round it, with all the fused steps. As
/// msccl-tools writes it: nothing of sizes, and dst of what is sent on in the receiver's buffers
/// (which are alike).
inline const std::string ring_all_reduce =
    expanded(R"(<algo name="ring" proto="LL128" THREE coll="allreduce" inplace="0">
  <gpu id="0" i_chunks="3" o_chunks="3" s_chunks="0">
    <tb id="0" send="1" recv="2" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
      <step s="1" type="rrs" srcbuf="i" srcoff="2" dstbuf="o" dstoff="2" UNIT ALONE/>
      <step s="2" type="rrcs" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" UNIT ALONE/>
      <step s="3" type="rcs" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
      <step s="4" type="r" srcbuf="o" srcoff="2" dstbuf="o" dstoff="2" UNIT ALONE/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="3" o_chunks="3" s_chunks="0">
    <tb id="0" send="2" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" UNIT ALONE/>
      <step s="1" type="rrs" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
      <step s="2" type="rrcs" srcbuf="i" srcoff="2" dstbuf="o" dstoff="2" UNIT ALONE/>
      <step s="3" type="rcs" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" UNIT ALONE/>
      <step s="4" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
    </tb>
  </gpu>
  <gpu id="2" i_chunks="3" o_chunks="3" s_chunks="0">
    <tb id="0" send="0" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="2" dstbuf="o" dstoff="2" UNIT ALONE/>
      <step s="1" type="rrs" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" UNIT ALONE/>
      <step s="2" type="rrcs" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
      <step s="3" type="rcs" srcbuf="o" srcoff="2" dstbuf="o" dstoff="2" UNIT ALONE/>
      <step s="4" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" UNIT ALONE/>
    </tb>
  </gpu>
</algo>
)");

/// All pairs: parts into scratch, combined there by `re`, and sums to everyone. In place, with
/// buffers as large as what is used of them, and a fork's attributes.
inline const std::string pairs_all_reduce =
    expanded(R"(<algo name="pairs" proto="LL" THREE coll="allreduce" inplace="1" redop="nop">
  <gpu id="0" i_chunks="3" o_chunks="0" s_chunks="2">
    <tb id="0" send="1" recv="1" chan="0" rtype="p2p">
  <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="s" dstoff="0" UNIT ALONE/>
  <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" UNIT ALONE/>
  <step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" UNIT ALONE/>
  <step s="3" type="re" srcbuf="s" srcoff="1" dstbuf="i" dstoff="0" UNIT depid="1" deps="1" TOLD/>
  <step s="4" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" UNIT ALONE/>
  <step s="5" type="r" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" UNIT ALONE/>
    </tb>
    <tb id="1" send="2" recv="2" chan="0" rtype="p2p">
  <step s="0" type="s" srcbuf="i" srcoff="2" dstbuf="s" dstoff="0" UNIT ALONE/>
  <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="1" UNIT depid="-1" deps="-1" TOLD/>
  <step s="2" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" UNIT depid="0" deps="3" UNTOLD/>
  <step s="3" type="r" srcbuf="i" srcoff="2" dstbuf="i" dstoff="2" UNIT ALONE/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="3" o_chunks="0" s_chunks="2">
    <tb id="0" send="0" recv="0" chan="0">
  <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" UNIT ALONE/>
  <step s="1" type="r" srcbuf="i" srcoff="1" dstbuf="s" dstoff="0" UNIT ALONE/>
  <step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="1" UNIT ALONE/>
  <step s="3" type="re" srcbuf="s" srcoff="1" dstbuf="i" dstoff="1" UNIT depid="1" deps="1" TOLD/>
  <step s="4" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" UNIT ALONE/>
  <step s="5" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" UNIT ALONE/>
    </tb>
    <tb id="1" send="2" recv="2" chan="0">
  <step s="0" type="s" srcbuf="i" srcoff="2" dstbuf="s" dstoff="1" UNIT ALONE/>
  <step s="1" type="r" srcbuf="i" srcoff="1" dstbuf="s" dstoff="1" UNIT depid="-1" deps="-1" TOLD/>
  <step s="2" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" UNIT depid="0" deps="3" UNTOLD/>
  <step s="3" type="r" srcbuf="i" srcoff="2" dstbuf="i" dstoff="2" UNIT ALONE/>
    </tb>
  </gpu>
  <gpu id="2" i_chunks="3" o_chunks="0" s_chunks="2">
    <tb id="0" send="0" recv="0" chan="0">
  <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="1" UNIT ALONE/>
  <step s="1" type="r" srcbuf="i" srcoff="2" dstbuf="s" dstoff="0" UNIT ALONE/>
  <step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="2" UNIT ALONE/>
  <step s="3" type="re" srcbuf="s" srcoff="1" dstbuf="i" dstoff="2" UNIT depid="1" deps="1" TOLD/>
  <step s="4" type="s" srcbuf="i" srcoff="2" dstbuf="i" dstoff="2" UNIT ALONE/>
  <step s="5" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" UNIT ALONE/>
    </tb>
    <tb id="1" send="1" recv="1" chan="0">
  <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="s" dstoff="1" UNIT ALONE/>
  <step s="1" type="r" srcbuf="i" srcoff="2" dstbuf="s" dstoff="1" UNIT depid="-1" deps="-1" TOLD/>
  <step s="2" type="s" srcbuf="i" srcoff="2" dstbuf="i" dstoff="2" UNIT depid="0" deps="3" UNTOLD/>
  <step s="3" type="r" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" UNIT ALONE/>
    </tb>
  </gpu>
</algo>
)");

/// Two ranks exchange everything as one chunk, and combine it as it comes.
inline const std::string exchange =
    expanded(R"(<algo name="exchange" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2"
      coll="allreduce" inplace="0" WINDOW>
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
</tb></gpu>
<gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/>
</tb></gpu>
</algo>
)");

} // namespace tutti::msccl_samples
