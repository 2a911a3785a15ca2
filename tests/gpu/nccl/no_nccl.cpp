// A libnccl.so.2 that lacks everything, so that tests find none even where NCCL is installed.
extern "C" {
int ncclOfNoUse() { return 0; }
}
