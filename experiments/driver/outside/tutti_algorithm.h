/* An algorithm as a shared object, in any language that makes one: `tutti synth -a ./swing.so`.
   docs/formats/program.md has an example. Each call happens in a process of its own. */
#ifndef TUTTI_ALGORITHM_H
#define TUTTI_ALGORITHM_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define TUTTI_ALGORITHM_VERSION 1u
struct tutti_link { /* between nodes */
  uint32_t from, to;
  int64_t latency_ps, bytes_per_second;
};
struct tutti_question {
  const char* collective;                         /* "all_reduce" */
  int64_t bytes;                                  /* the total buffer, as nccl-tests has it */
  uint32_t ranks, root, chunks_per_shard, blocks; /* block k of rank r: r chunks_per_shard + k */
  const uint32_t* node_of_rank;
  uint32_t nodes, links, dimensions, settings;
  const struct tutti_link* link;
  const int32_t* extent;      /* of each dimension, where the network has coordinates */
  const char* const* setting; /* "key=value", of --set */
  uint64_t seed;
};
struct tutti_answer { /* `self` is the first argument of its functions */
  void* self;
  void (*send)(void* self, uint32_t source, uint32_t destination, uint32_t block, int reduces);
  void (*cross)(void* self, const uint32_t* links, uint32_t count, uint32_t block, int reduces);
  void (*wait_for)(void* self, uint32_t transfer); /* the last transfer, for an earlier one */
};
/* Null, or why the algorithm isn't made for this. `version`: of the header that the asker has. */
const char* tutti_algorithm(uint32_t version, const struct tutti_question*, struct tutti_answer*);
/* May be left out: what the number of chunks per shard must be a multiple of. */
uint32_t tutti_chunk_multiple(uint32_t version, const struct tutti_question*);
#ifdef __cplusplus
}
#endif
#endif
