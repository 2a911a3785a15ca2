// The commands and files that mutated_commands_test.cpp makes slips in: something of every command
// and of every kind of file, all of it small enough to run thousands of times.
#include "tests/experiments/cli/good_commands.hpp"

namespace tutti {

/// In the folder in which commands run. What they read is all small.
const std::vector<std::pair<std::string, std::string>>& written_files() {
  static const std::vector<std::pair<std::string, std::string>> files{
      {"net.toml", R"(name = "pods"
[[nodes]]
name = "gpu"
count = 4
kind = "npu"
reduce_rate = "100GB/s"
[[nodes]]
name = "leaf"
count = 2
kind = "switch"
copy = true
reduce = true
[[links]]
from = ["gpu0", "gpu1"]
to = "leaf0"
bandwidth = "50GB/s"
latency = "0.5us"
[[links]]
from = ["gpu2", "gpu3"]
to = "leaf1"
bandwidth = "50GB/s"
latency = "0.5us"
[[links]]
from = "leaf0"
to = "leaf1"
bandwidth = "25GB/s"
latency = "1us"
[[groups]]
name = "bus"
bandwidth = "40GB/s"
links = [["gpu0", "leaf0"], ["gpu1", "leaf0"]]
)"},
      {"named.toml",
       "[[collective]]\nname = \"all_reduce\"\nsize = \"1MiB\"\nchunks_per_shard = 2\n"
       "[[collective]]\nname = \"broadcast,root=1,group=0-2\"\nsize = \"3kB\"\n"},
      {"custom.toml", R"([[collective]]
name = "custom"
[[collective.chunks]]
size = "1MiB"
sources = [0, 1]
destinations = [2]
reduces = true
[[collective.chunks]]
size = "7B"
sources = [2]
destinations = "0-3"
)"},
      {"sketch.toml", R"(name = "pairs"
machines = 2
partitions = 2
chunk = "64KiB"
symmetry = [[8, 16]]
[inside]
balance = "minmax"
[[inside.switches]]
npus = [0, 1]
policy = "uc-min"
[between]
connections = { 1 = [0] }
beta_split = 1.5
leaves_through = { 1 = [0, 1, 2, 3, 4, 5, 6, 7] }
own_chunks_first = true
)"},
      {"taccl.json", R"({"nnodes": 2,
"intranode_sketch": {"strategy": "switch", "switches": [[0, 1]],
  "switch_hyperedge_strategy": ["uc-max"]},
"internode_sketch": {"strategy": "relay", "internode_conn": {"1": [0]},
  "beta_split": {"1": 1}, "chunk_to_relay_map": [8, 1]},
"symmetry_offsets": [[8, 16]],
"hyperparameters": {"input_chunkup": 2, "input_size": "64K"}}
)"},
      {"jobs.toml", R"(algorithms = ["ring", "direct"]
together = ["tacos"]
[[job]]
name = "a"
collective = "all_reduce,group=0-1"
size = "1MB"
chunks = 2
start = "5us"
priority = 7
[[job]]
name = "b"
collective = "all_gather"
size = "64KiB"
algorithm = "direct"
)"},
      {"events.toml", R"([[events]]
at = "10%"
link_rate = "npu0>npu1"
share = 0.25
[[events]]
at = "30%"
link_down = "npu2-npu3"
[[events]]
at = "60%"
npu_down = "npu1"
)"},
      {"model.toml", ""}, // from the repository
      {"npu.toml", ""},
      {"work.txt", "DATA\n2\na -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 100000 0\n"
                   "b -1 20 NONE 0 5 ALLTOALL 640 30 ALLREDUCE 1000 7\n"},
      {"runs.toml", R"(name = "small"
title = "A small experiment"
seed = 2
[topologies]
Ring = "ring:4,latency=1us"
Mesh = "net.toml"
[[runs]]
topologies = ["Ring", "Mesh"]
collectives = ["all_reduce", "broadcast,root=1"]
sizes = ["1KiB..2KiB"]
algorithms = ["ring", "direct", "tacos"]
chunks = "auto"
limit = "2s,1GiB"
link_busy = "latency+serialization"
[[figures]]
kind = "bars"
file = "bandwidth"
title = "Bandwidth"
metric = "algbw"
[[expect]]
label = "Ring / Direct"
of = {topology = "Ring", algorithm = "ring", collective = "all_reduce", size = "2KiB"}
over = {topology = "Ring", algorithm = "direct", collective = "all_reduce", size = "2KiB"}
metric = "algbw"
value = 1.0
tolerance = "90%"
)"},
      {"studies.toml", R"(name = "studies"
[topologies]
R = "ring:4"
[[failures]]
label = "A"
topology = "R"
collective = "all_reduce"
size = "1MB"
algorithms = ["ring", "tacos"]
policies = ["report", "restart", "resynthesize", "reroute"]
failed_links = [0, 1]
at = "50%"
seeds = [1, 2]
[[failures.events]]
at = "10%"
link_rate = "npu0>npu1"
share = 0.25
[[frontiers]]
label = "F"
topology = "R"
collective = "all_gather,group=0-3"
sizes = ["1kB..4kB"]
settings = {k = "1", max_steps = "3"}
limit = "1s"
[[jobs]]
label = "J"
topology = "R"
algorithms = "ring"
together = ["tacos"]
[[jobs.job]]
name = "a"
collective = "all_reduce,group=0-1"
size = "1MB"
[[executions]]
label = "E"
topology = "R"
collective = "all_gather"
sizes = ["1KiB"]
algorithms = ["direct"]
predicted_by = "nothing"
links = "real"
repetitions = 1
)"},
      {"sweep.toml", R"(name = "small"
title = "A small study"
seed = 2
constraints = ["npus <= 64", "size >= 1024 OR algorithm = 'ring'"]
[parameters]
size = "1KiB..2KiB"
algorithm = ["ring", "direct"]
k = {from = 2, to = 4, step = 2}
latency = "1us"
[experiment]
topologies = {net = "mesh2d:${k}x${k},latency=${latency}"}
[[experiment.runs]]
collectives = ["all_reduce"]
sizes = ["${size}"]
algorithms = ["${algorithm}"]
[objectives]
time = "collective_time_s"
rate = {expression = "algbw_bytes_per_s / 2", maximise = true, unit = "bytes_per_second"}
[[best]]
label = "Best"
objective = "time"
of = "algorithm"
x = "size"
y = "k"
[[curves]]
label = "Curves"
objective = "rate"
x = "size"
series = "algorithm"
by = ["k"]
relative_to = "ring"
logarithmic = true
[limits]
time = "5s"
memory = "1GiB"
)"}};
  return files;
}

/// Good commands. The first ones make files that others read.
const std::vector<std::string>& good_commands() {
  static const std::vector<std::string> commands{
      "synth -t ring:4 -c all_reduce -a ring --size 64KiB --chunks 1 -o s.tutti",
      "synth -t mesh2d:2x2 -c all_gather -a tacos --size 64KiB --chunks 2 -o s.json",
      "synth -t net.toml -c broadcast,root=1 -a direct --size 4kB -o net.json",
      "lower -t ring:4 s.tutti -o p.xml --instances 2 --channels 8 --protocol LL --json",
      "lower -t mesh2d:2x2 s.json -o q.xml --share-blocks --min-bytes 1KiB --max-bytes 1MiB "
      "--runtime executor@2.23",
      "train -t ring:2 --model model.toml --npu npu.toml -a ring --cache none --export-chakra t",
      "verify -t ring:4 s.tutti",
      "verify -t mesh2d:2x2 s.json --json",
      "verify -t net.toml net.json",
      "replay -t ring:4 s.tutti --engine simgrid --discipline fifo,fluid --link-busy serialization "
      "--start npu1=20us --start npu2=1ms",
      "replay -t mesh2d:2x2 s.json --export-case case.json --engine simgrid --trace o.json "
      "--heatmap h.svg --json",
      "explore -t mesh2d:2x2 s.json -o page.html",
      "exec -t ring:4 -c all_gather -a ring --size 4KiB --links real --repeat 1 --predicted-by "
      "nothing "
      "--explore exec.html",
      "failures -t ring:4 -c all_gather --size 64KiB -a ring --event 'at=50%,link_down=npu0>npu1' "
      "--explore failures.html",
      "replay -t net.toml net.json --forwarding store-and-forward --engine native",
      "exec -t ring:4 s.tutti --links real --repeat 1 --warmups 0 --watchdog 5s --predicted-by "
      "nothing",
      "exec -t ring:4 p.xml --size 64KiB --links real --repeat 1 --predicted-by nothing --type "
      "int32",
      "exec -t ring:3 -c all_reduce -a ring,direct --size 3KiB..6KiB --op max --in-place --links "
      "real "
      "--repeat 2 --json --predicted-by nothing",
      "import -t ring:4 p.xml --size 64KiB -o back.tutti --json",
      "import -t mesh2d:2x2 q.xml --size 64KiB --paths q.xml.paths.json --routing shortest "
      "--discipline fluid,fifo --program 1",
      "profile -t ring:2 --links real --repeat 1 --sizes 1KiB,4KiB --chunks 2 --within 10000% -o "
      "measured.toml",
      "show -t net.toml",
      "show -t torus2d:3x4,bandwidth=50GB/s+25GB/s,latency=1us,fail-links=1 --json",
      "show -t dgx1 --draw dgx1.svg",
      "lint -t net.toml --json",
      "show -t ndv2x2_pcie --sketch sketch.toml",
      "show -t ndv2x2_pcie --sketch taccl.json --json",
      "synth -t ndv2x2_pcie -c all_gather -a taccl --size 64KiB --set sketch=sketch.toml",
      "sketch -t net.toml relay",
      "sketch -t ndv2x2 -o sketches --json",
      "list algorithms",
      "list topologies --json",
      "list collectives",
      "list models",
      "list npus --json",
      "list experiments",
      "list sweeps",
      "list engines",
      "list runtimes",
      "bound -t ring:6 -c all_to_all,group=1+5 --size 1MiB --chunks 2 --draw cut.svg",
      "bound -t net.toml -c reduce,root=2 -c all_gather --size 1kB --json",
      "bound -t mesh2d:2x2 -c custom.toml --link-busy latency+serialization",
      "synth -t ring:4 -c all_reduce -a all --size 4KiB --limit 2s,1GiB --chunks 1",
      "synth -t fully_connected:4 -c all_to_all -a all --size 4KiB --limit 2s,1GiB --json",
      "synth -t ring:4 -c all_to_all_v,zipf=1.2,seed=3 --size 4KiB -a direct "
      "--planned-for all_to_all",
      "bound -t ring:4 -c dispatch,tokens=8,top=2,experts=8,hidden=16,bytes=1,zipf=1,iteration=2,"
      "capacity=1.5,replicas=4,placement=balanced",
      "synth -t net.toml -c all_gather -a all --size 4KiB --limit 2s,1GiB --chunks 1",
      "synth -t hypercube:3 -c reduce_scatter -a rhd,tacos --size 1KiB..8KiB --jobs 2 --threads 2",
      "synth -t two_level_switch:2x3,bandwidth=50GB/s+25GB/s -c named.toml -a direct,flows --seed "
      "7",
      "synth -t switch:4 -c custom.toml -a tacos,flows --limit 2s --set starts=2",
      "synth -t torus2d:3x3 -c scatter,root=4 -a direct --size 9kB --routing dimension-order "
      "--engine simgrid --discipline fifo,fluid --forwarding cut-through",
      "synth -t ring:3 -c all_gather -a teccl --size 3KiB --set method=rounds --set epoch=slowest "
      "--limit 2s",
      "synth -t ring:3 -c all_gather -a sccl --size 3KiB --chunks 1 --set steps=2 --set rounds=3 "
      "--limit 2s",
      "synth -t random:6,degree=3,seed=2 -c gather,root=1 -a flows,tree_packing,direct --size 6KiB",
      "synth -t dgx1 -c all_gather,group=0-3 -c broadcast,root=5,group=4-7 -a tacos --size 1MB",
      "frontier -t ring:4 -c all_gather --size 1KiB..4KiB --set k=1 --set max_steps=3 --limit 2s",
      "frontier -t dgx1 -c broadcast,root=1 --engine native --limit 1s --json --out front",
      "jobs -t ring:4 jobs.toml --seed 3 --out j",
      "failures -t mesh2d:2x3 -c reduce,root=2 -a direct,tacos --size 6KiB --event "
      "at=60%,link_down=npu4-npu2 --event at=84%,npu_down=npu0 --engine both --detection 1us "
      "--decision 1us",
      "failures -t ring:4 -c all_reduce -a ring --size 64KiB --events events.toml --planner tacos "
      "--policy report,restart --json",
      "failures -t ring:4 -c all_gather -a tacos --chunks 2 --event at=1us,link_latency=npu0>npu1,"
      "latency=5us --event at=2us,straggler=npu2,share=0.5 --policy resynthesize,reroute --out f",
      "train -t ring:4 --model model.toml --npu npu.toml --tensor 2 --micro-batches 2 --bucket "
      "25MB "
      "--zero 1 -a ring,auto --cache none --engine both --limit 2s",
      "train -t mesh2d:2x2 --workload work.txt --unit us -a ring --straggler npu1=0.5 "
      "--failed-links 1 --cache none --json",
      "train -t ring:2 --chakra t -a direct --cache c --trace tr.json --trace-npus 0 --heatmap "
      "h.svg",
      "train -t ring:4 --model model.toml --npu npu.toml --pipeline 2 --schedule 1f1b --recompute "
      "full --one-at-a-time --local-mem-bw 1600GB/s --micro-batches 4 --by-collective "
      "all_reduce=ring -a direct --cache none --event "
      "at=1us,link_rate=npu0>npu1,share=0.5 --policy reroute --unfolded",
      "run runs.toml --jobs 2 --out r",
      "run studies.toml --out r --json",
      "sweep sweep.toml --jobs 2 --out w --cache none",
      "sweep sweep.toml --shard 1/3 --store shard.sqlite --out w --json --cache none",
      "sweep sweep.toml --store shard.sqlite --out w --report",
      "sweep sweep.toml --emit-slurm job.sh --slurm-shards 4",
      "--version",
      "--help",
      "synth --help"};
  return commands;
}

} // namespace tutti
