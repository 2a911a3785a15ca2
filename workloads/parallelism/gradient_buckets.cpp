// Backward passes fill gradients from the last layer to the first, so buckets are collected in that
// order. Dense and expert parameters are summed among different replicas and never share a bucket.
#include "workloads/parallelism/gradient_buckets.hpp"

#include <algorithm>

namespace tutti {

namespace {

void add_buckets(std::span<const LayerWork> layers, std::uint32_t first, std::uint32_t end,
                 Bytes least, std::int64_t gradient_bytes, bool is_expert,
                 std::vector<GradientBucket>& buckets) {
  GradientBucket open;
  for (std::uint32_t l = end; l-- > first;) {
    const std::int64_t parameters = is_expert ? layers[l].expert_gradients : layers[l].parameters;
    if (parameters == 0) continue;
    if (open.parameters == 0) open = {l, l, 0, is_expert};
    open.first = l;
    open.parameters += parameters;
    if (open.parameters * gradient_bytes < least.count) continue;
    buckets.push_back(open);
    open = {};
  }
  if (open.parameters > 0) buckets.push_back(open);
}

} // namespace

std::vector<GradientBucket> gradient_buckets(std::span<const LayerWork> layers, std::uint32_t first,
                                             std::uint32_t end, Bytes least,
                                             std::int64_t gradient_bytes) {
  std::vector<GradientBucket> buckets;
  add_buckets(layers, first, end, least, gradient_bytes, false, buckets);
  add_buckets(layers, first, end, least, gradient_bytes, true, buckets);
  std::stable_sort(
      buckets.begin(), buckets.end(),
      [](const GradientBucket& a, const GradientBucket& b) { return a.first > b.first; });
  return buckets;
}

} // namespace tutti
