"""The page of columns (docs/columns.md): what stands in results.csv and its like, in JSON, and in the tables
of a terminal.

What a column means stands in schemas/rows.json, which the columns themselves are written to (`tutti man
--schema`); what is no value of a column, in schemas/details.json. A "heading" is ours and no keyword of JSON
Schema: what tables call a column. A description or heading beside a "$ref" goes before that of what is
referred to. Only words that belong to no single column stand here.
"""

import json
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass

RUNS = "runs"  # whose table explains what most kinds have


@dataclass
class Csv:
    """A CSV file: its definition in rows.json, its name, and what a row of it is."""

    row: str
    file: str
    row_is: str


@dataclass
class Kind:
    """A kind of study."""

    title: str
    files: list[Csv]
    commands: str
    words: str  # under its heading, in paragraphs; the first goes on after what a row is
    about: str = ""  # definition of an element of "studies"
    about_is: str = ""

    @property
    def name(self) -> str:
        return self.files[0].row


KINDS = [
    Kind("Runs", [Csv(RUNS, "results.csv", "one case (a network, collective, size, number of chunks and "
                      "algorithm) replayed under one discipline")],
         "`tutti synth`, `replay`, `import`: JSON and tables only", """
         A case without a correct schedule has one row, in which everything that a replay gives, from
         `engine` to `mean_link_utilisation`, is empty.

         On the terminal there is a time for each discipline (`time fifo`, `time fluid`); all else in a line
         is of the first. `chunks/shard` says `auto: 8` where Tutti has chosen. What the algorithm expects,
         attempts and facts are words of the note. The model of time, which is the same for all lines,
         stands above the table.

         With `skews` or `jitter` there is a row for each skew. Its columns from `skew` to
         `critical_cause_fraction` are in the files where some case has draws, and in a table of their own on
         the terminal; what stands before them is of the run without noise."""),
    Kind("Frontiers", [Csv("frontiers", "frontier.csv", "a point of a Pareto frontier at one size"),
                       Csv("frontier_paper", "frontier_paper.csv", "an algorithm of a paper's table that the "
                           "frontier is held against; the file is there where an experiment names some")],
         "`tutti frontier`", """
         The table on the terminal has a line for each point, with times at the smallest and the largest
         size (`model 1KiB`, `time 1KiB`); `algbw`, `gap` and `at chunks` are those at the largest.""",
         "about_frontiers", "frontier"),
    Kind("Jobs", [Csv("jobs", "jobs.csv", "a job under one plan")], "`tutti jobs`", """
         What a plan comes to as a whole (`makespan_ps`, `mean_slowdown`, CPU times) stands in the row of
         each of its jobs. Where a plan has no schedules, its rows have no times."""),
    Kind("Failures", [Csv("failures", "failures.csv", "an algorithm in one run of events under one policy")],
         "`tutti failures`", """
         An algorithm without a schedule has one row, whose columns from `failed_links` on are empty.

         The table on the terminal has a line for each algorithm, number of failed cables and policy. Times,
         goodput and bytes in vain are medians over all seeds (of an even number the lesser of the two in
         the middle; runs that aren't complete count as the latest), decisions and planning are sums, and
         `NPUs missing some` is the most of any run. `complete` says how many of the runs are (`3/5`); of a
         single run `yes`, `no` or its ending. The line `undisturbed` is the run without events.""",
         "about_failures", "algorithm of a study"),
    Kind("Training", [Csv("training", "training.csv", "a workload on a network, its collectives by one "
                          "algorithm, under one condition"),
                      Csv("training_npus", "training_npus.csv", "an NPU in one of these")],
         "`tutti train`", """
         A row in which nothing was simulated has none of what follows `iterations`, but for `memory_bytes`
         and CPU times.

         Every picosecond of an NPU belongs to one account: it computes, or its next operation waits for
         communication that is under way (*exposed*, by purpose), or for an NPU that isn't there yet (a
         *bubble* of the pipeline, or *waiting*). So the columns `sum_*` of a row add up to `npus *
         duration_ps`, and the account of an NPU to `duration_ps`.

         The first table on the terminal is of iterations. The second has accounts of a single iteration: of
         the mean NPU (`sum_*` over `npus * iterations`), and of the NPU that computes longest. The third
         has what communicates, which is `plans` in the details. A condition says the number and seed of
         failed cables."""),
    Kind("Executions", [Csv("executions", "executions.csv", "an algorithm at one size, run with real data")],
         "`tutti exec`", """
         A row that didn't run has no times. `nccl_tests.txt` beside the CSV has the same measurements in
         the form of nccl-tests. `wrong` on the terminal says `0 of 12000`: both columns at once.""",
         "about_executions", "study"),
    Kind("Bounds", [Csv("bounds", "bounds.csv", "a collective of one size on a network, with the best "
                        "schedule for it of all algorithms")], "", """
         The table on the terminal has every column in which its rows differ."""),
    Kind("Fits", [Csv("fits", "fits.csv", "errors of predictions on a machine, or on a group of machines, "
                      "from a size on"),
                  Csv("fit_rows", "fit_rows.csv", "a measured time beside its predictions"),
                  Csv("fit_constants", "fit_constants.csv", "a constant that was free")],
         "`tutti fit`", """
         The transport that was made is a file beside the CSV, `NAME.toml`. The second table on the terminal
         has the constants that rows depend on.""", "about_fits", "study"),
]

INTRODUCTION = """\
# Columns of results

This page says what each column of a study's results means, in CSV files, in JSON and in the tables of the
terminal. A study of an experiment has a kind, which is the name of its table in the file of the
[experiment](formats/experiment.md); each kind has a CSV file of its own. [Results](formats/results.md) says
which files there are and how they are written.

{files}

`tutti run` writes these files into the experiment's folder of results, the commands into the folder that
`--out` names. `tutti sweep` writes [points.csv](#sweeps) and a file for each analysis.

## Units, and what is missing

The end of a name says the unit.

| End of the name | Unit | On the terminal |
| --- | --- | --- |
| `_ps` | picoseconds (10^-12 s) of simulated time, whole | `1.530 us` |
| `_bytes` | bytes, whole | `4kB` where it says which case it is, exactly as one would type it; else `976.6 \
KiB`, in powers of 1024 |
| `_bytes_per_s` | bytes per second | `2.614 GB/s`, in powers of 1000 |
| `_per_s` | one per second | |
| `_seconds` | seconds that were measured: of the clock, or of CPUs (the tables below say which) | `0.004 s` |
| `_fraction`, `_utilisation` | part of a whole: 0.25 is 25 % | `25.0 %` |

What has no such end is a count, a quotient (`gap`, `slowdown`; `1.286x` on the terminal), a text, or true or
false. Where there is another unit, the tables below say it. GB is 10^9 bytes, GiB 2^30.

A value that isn't known is null in JSON, an empty cell in CSV, and `-` on the terminal. What needs a
schedule, a replay or a run is null where there is none; where else a value is null, its definition says.

## CSV, JSON and tables

**CSV** files begin with a line of names. The order of columns within a kind never changes, but for facts and
bounds that a study chooses, so that files of two runs can be compared. CPU times and memory, which differ
from run to run, stand last. Studies of one kind in an experiment share a file. Counts, times and sizes are
exact; rates are rounded to a byte per second, quotients and parts to six decimals, seconds of the clock to
nine significant digits, CPU seconds to a millisecond, and other numbers to six significant digits.

**JSON** (`--json`, and `results.json`) has the same rows in `runs`, under the same names, with numbers
unrounded. A row also has its `kind` and, for most kinds, `details` with what is no single value: lists,
certificates, links. What belongs to no single row stands in `studies`. For programs, there are
[schemas](schemas/README.md).

**Tables** on the terminal show a choice of columns. A heading is the words of the name without its unit (`lower
bound`), or what stands below; one with `SIZE` stands for one of each shown size. Where the terminal is narrow, some are left out, which the last line says; `--wide` shows all.
`--columns` takes headings, with `_` for a blank: `--columns algorithm,max_link`. Tables of runs, jobs,
executions and `tutti compare` have any other column, too, by its name, with its unit or without:
`--columns algorithm,transfers,peak_rss`.

In definitions, n is the number of members of the process group, and K the number of chunks per shard.
"""

FACTS = """\
An algorithm may state facts of its own answer, in columns whose names begin with `fact:`. They stand before
`synthesis_seconds`; a file has those of all algorithms in it, by name. Seconds in them are simulated ones.

| Fact | Algorithm | Definition | Unit |
| --- | --- | --- | --- |
| `fluid_seconds` | `flows`, `tree_packing` | Time of the fluid schedule that the chunks were cut from: the \
longest that any link or shared group needs for what crosses it, without latencies | s |
| `fluid_bound_seconds` | `flows`, `tree_packing` | No fluid schedule takes less | s |
| `symmetry` | `flows`, `taccl` | Number of automorphisms by which the problem was made smaller; 1: none | |
| `columns` | `flows` | Number of columns of the linear program that were made, which is the work done | |
| `trees_per_source` | `tree_packing` | Number of trees of each source; of the source with the fewest | |
| `traffic_gb` | `flows`, `tree_packing` | Bytes over all links, each weighted as the setting `traffic` says \
| GB |
| `traffic_bound_gb` | `flows` | Least traffic of any fluid schedule that takes no longer; only where the \
setting `traffic` is given | GB |
| `epochs` | `teccl` | Number of epochs that the plan takes; of All-Reduce, both halves together | |
| `epochs_at_least` | `teccl` | Number of epochs that no plan goes below | |
| `epoch_seconds` | `teccl` | Length of an epoch | s |
| `rounds` | `teccl` | Number of rounds of planning, where it plans in rounds | |
| `reward_gap` | `teccl` | Highest reward that a plan may have over the reward of this one, less 1 | |
| `routing_seconds` | `taccl` | Time of the relaxed routing: the longest path, or the busiest part of the network; of \
All-Reduce, both halves together | s |
| `routing_gap`, `ordering_gap`, `contiguity_gap` | `taccl` | Time of a stage's answer over the lower bound of that \
stage, less 1; each for what the stage before gave | |
| `joined_chunks` | `taccl` | Number of chunks that share a send with the one before | |
| `switched_connections` | `taccl` | Number of connections through switches that are in use | |
| `sketches` | `taccl` | Number of sketches that were tried, where these were several | |
| `without_sketch_seconds` | `taccl` | Time of the schedule that `flows` makes of the same chunks on the whole \
network; up to 64 NPUs | s |
| `broadcast_trees`, `reduce_trees` | `blink` | Number of trees that were packed | |
| `broadcast_bytes_per_second`, `reduce_bytes_per_second` | `blink` | Rate of all of them together | bytes/s |
| `left_out_endpoint_delay_seconds` | `astra` | Delay for each send and receive that the system file has and the \
schedule can't | s |
| `left_out_local_memory_bytes_per_second` | `astra` | Bandwidth of local memory, left out likewise | bytes/s |
| `left_out_window` | `astra` | Window of direct exchange, left out likewise: all messages may be under way | |
| `trees_on_direct_links` | `ccube` | 2 where both trees run over direct links, else 0 | |
"""

# Headings under which a table shows what no column has.
OTHER_HEADINGS = {
    "Runs": [
        ("best", "`*` for the fastest complete schedule of each size"),
        ("chunks/shard", "`chunks_per_shard`; `auto: 8` where Tutti has chosen"),
        ("time fifo, time fluid", "`collective_time_ps` under this discipline"),
    ],
    "Frontiers": [
        ("model SIZE", "`model_time_ps` at this size"),
        ("time SIZE", "`collective_time_ps` at this size; of two engines that of `native`"),
    ],
    "Jobs": [("chunks/shard", "`chunks_per_shard`; `auto: 8` where Tutti has chosen")],
    "Failures": [
        ("time", "`collective_time_ps`, the median over all seeds"),
        ("x undisturbed", "`slowdown`, likewise"),
        ("in force / made", "`decisions_in_force` and `decisions`, sums over all seeds"),
    ],
    "Training": [
        ("throughput", "`items_per_s`, with the name of the item"),
        ("of peak", "`flops_utilisation`"),
        ("x fastest", "`iteration_time_ps` over the least of the runs that differ in the algorithm only"),
        ("x undisturbed", "`duration_ps` over that of the same run undisturbed"),
        ("x bound", "`duration_ps / lower_bound_ps`; of what communicates, `alone_ps / lower_bound_ps`"),
        ("NPU", "`mean`, or the name of the NPU that computes longest"),
        ("= iteration", "The sum of the columns before it: `iteration_time_ps`"),
    ],
}

SWEEPS = """\
## Sweeps

`points.csv` has a row for each point of a sweep, in this order: its parameters, derived values, facts of its
network, results, `status` and `message`. Nothing in it is measured, so that the same sweep gives the same
bytes.

All numbers are in SI units: bytes, seconds, bytes per second. The unit stands in the name's end or else in
brackets: `size [bytes]`, `collective_time_s`, `measured_seconds [s]`. Numbers have as many digits as it takes
to read back the same.

| Column | Definition |
| --- | --- |
| `npus`, `links`, `switches` | Number of NPUs, of links (one for each direction), and of switches |
| `cost` | Cost of the network by the sweep's model of costs, in its currency: the sum of the following five |
| `cost_cables`, `cost_switches`, `cost_nics`, `cost_npus`, `cost_energy` | Cost of cables, switches, \
network interfaces, NPUs, and of energy over the model's years |
| `power_watts` | Power of the network [W] |
| `cables`, `cable_metres` | Number of cables, and their length together [m] |
| `status` | `done`: there is a verified result. `infeasible`: there is no schedule, which is proven. \
`unsupported`: the algorithm isn't made for this. `refused`: bad input. `timed_out`: at the point's time \
limit, or at the algorithm's own without a schedule. `out_of_memory`; `crashed`: the process died. \
`defect`: a check of Tutti's own failed. `pending`, `running`: \
not simulated yet |
| `message` | Why it isn't done, in words; else a note, or empty |

The results are columns of the kind of its study, as on this page, with `_s` for `_ps`: `collective_time_s` is
`collective_time_ps` in seconds. They are those that are numbers (or true and false, as 1 and 0) and come out
of the simulation, the same each time. What says which case it is isn't among them (parameters do), nor texts,
CPU times, memory and facts. Expressions of objectives use the same names. Where the kind has several rows for
a case, the point has the numbers of one: of a frontier the point that is best at its size, of jobs the one
with the largest `slowdown`, of training the iterations that are disturbed.

Each analysis has a CSV file of its own, `KIND_LABEL.csv`, and a table on the terminal. Parameters and
objectives stand in both under their names, here PARAMETER and OBJECTIVE.

| File | Column | Heading | Definition |
| --- | --- | --- | --- |
| `best_*.csv` | `best PARAMETER` | `best PARAMETER` | Value that is best in this cell |
| | `second PARAMETER` | `second PARAMETER` | Value that is second best; empty where there is one only |
| | `second_over_best` | `second/best` | How many times worse that is: the quotient of both objectives, at \
least 1 |
| | `ties` | `ties` | Values that are equally good, where there are several: `ring = tacos` |
| `curves_*.csv` | `OBJECTIVE` | `OBJECTIVE` | Best value over all parameters that the analysis doesn't \
name; these follow |
| with `replicates` | `n` | `n` | Number of repetitions with a result |
| | `OBJECTIVE_mean`, `low`, `high` | `OBJECTIVE mean`, `95 % from`, `to` | Mean, and its 95 % confidence \
interval by Student's t, from 2 repetitions on |
| | `median`, `median_low`, `median_high` | `median`, `95 % from`, `to` | Median, and its 95 % confidence \
interval by order statistics, from 6 repetitions on |
| | `least`, `largest` | `least`, `largest` | Least and largest value |
| | `without_result` | `no result` | Number of repetitions without a result |
| `pareto_*.csv` | `points` | `points` | Number of points that have both these objectives |
| `sensitivity_*.csv` | `parameter`, `levels` | `parameter`, `values` | Parameter, and how many values it \
has (ranges, of more than 8 numbers) |
| | `share` | `explains` | Part of the objective's variance that it explains alone (eta squared), 0 to 1 |
| | `best_value`, `best_mean` | `best at`, `best mean` | Value at which the mean objective is best, and that \
mean |
| | `worst_value`, `worst_mean` | `worst at`, `worst mean` | The same where it is worst |
| | `scale` | | `ratio`: means are geometric, and effects quotients of worst and best; `difference`: \
arithmetic, and differences |
| | `effect` | `effect` | Effect from best to worst mean |
| | `groups` | `groups` | Number of sets of points that differ in this parameter only |
| | `least_effect`, `median_effect`, `largest_effect` | `all else equal: least`, `median`, `largest` | \
Effect within such a set: the least, the median and the largest of all |
| `selection_*.csv` | `next_PARAMETER`, `next_over_best` | `next best is worse by at least`, `at most` | \
Next-best choice, and how many times worse it is; on the terminal the range over all sizes |
| | `ties` | | Number of choices that are equally good |
| | `range_from_PARAMETER`, `range_to_PARAMETER` | `PARAMETER from`, `to below` | Range with the same choice \
to which the row belongs; without an end where it is open |
"""

# Commands whose JSON has rows of its own.
COMMANDS = ["bound", "compare", "verify", "lower", "profile", "show", "lint", "check-algorithm", "sketch", "list",
            "sweep"]

# Definitions of details.json that several values are of: said once, and where that is.
NAMED = {"account": "[account](#training-an-account)", "profile": "[profile](#tutti-profile)", "times": ""}


class Schemas:
    """Files of JSON Schema that refer to each other."""

    def __init__(self, folder: pathlib.Path):
        self.documents = {file.name: json.loads(file.read_text("utf-8")) for file in folder.glob("*.json")}

    def row(self, name: str) -> dict:
        return self.resolved({"$ref": f"#/definitions/{name}"}, "rows.json")

    def details(self, name: str) -> dict:
        return self.resolved({"$ref": f"#/definitions/{name}"}, "details.json")

    def element(self, command: str, key: str) -> dict:
        """Of a list that a command prints."""
        file = f"{command}.json"
        return self.resolved(self.documents[file]["properties"][key]["items"], file)

    def resolved(self, schema: dict, file: str) -> dict:
        """Without references, at any depth. What stands beside one goes first. "named": to one of NAMED."""
        if "$ref" in schema:
            target_file, _, pointer = schema["$ref"].partition("#")
            file = target_file or file
            target = self.documents[file]
            keys = pointer.strip("/").split("/")
            for key in keys:
                target = target[key]
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            named = {"named": keys[-1]} if file == "details.json" and keys[-1] in NAMED else {}
            return self.resolved({**target, **named, **beside}, file)
        schema = dict(schema)
        for key in ("properties", "patternProperties"):
            if key in schema:
                schema[key] = {name: self.resolved(each, file) for name, each in schema[key].items()}
        if "items" in schema:
            schema["items"] = self.resolved(schema["items"], file)
        if "oneOf" in schema:
            schema["oneOf"] = [self.resolved(each, file) for each in schema["oneOf"]]
        return schema


def paragraph(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False) + "\n\n"


def code(text: str) -> str:
    return f"`{text}`"


def codes(texts) -> str:
    return ", ".join(map(code, texts))


def table(titles: list[str], lines: list[list[str]]) -> str:
    """Without columns in which nothing stands."""
    shown = [c for c in range(len(titles)) if any(line[c] for line in lines)]
    rows = [[titles[c] for c in shown], ["---" for _ in shown], *([line[c] for c in shown] for line in lines)]
    escaped = [[text.replace("|", "\\|") for text in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in escaped) + "\n"


def definition_and_unit(schema: dict) -> tuple[str, str]:
    """The description, and the unit in brackets at its end."""
    description = schema.get("description", "")
    found = re.fullmatch(r"(.*?)\s*\[([^][]+)]", description, re.DOTALL)
    return (found[1], found[2]) if found else (description, "")


def headings_of(schema: dict) -> list[str]:
    headings = schema.get("heading", [])
    return [headings] if isinstance(headings, str) else headings


def columns_of(row: dict) -> dict[str, dict]:
    """In the order of the CSV file; names that a pattern stands for where they are."""
    before = {"^fact:.+$": ("fact:NAME", "synthesis_seconds"),
              "^lower_bound_at_.+_ps$": ("lower_bound_at_K_ps", "algorithm")}
    columns = {}
    for name, schema in row["properties"].items():
        for pattern, of_pattern in row.get("patternProperties", {}).items():
            if before[pattern][1] == name:
                columns[before[pattern][0]] = of_pattern
        if name not in ("kind", "details"):
            columns[name] = schema
    return columns


def column_table(columns: dict[str, dict]) -> str:
    lines = []
    for name, schema in columns.items():
        definition, unit = definition_and_unit(schema)
        lines.append([code(name), codes(headings_of(schema)), definition, unit])
    return table(["Column", "Heading", "Definition", "Unit"], lines)


def named_in(schema: dict) -> str:
    """Which of NAMED a value, or the elements of a list, are of."""
    for each in [schema, schema.get("items", {}), *schema.get("oneOf", [])]:
        if "named" in each:
            return each["named"]
    return ""


def value_lines(schema: dict, path: str = "") -> list[list[str]]:
    """A line for each value inside, by its path: links[].bytes."""
    lines = []
    for each in schema.get("oneOf", [schema]):
        for name, inner in each.get("properties", {}).items():
            inner_path = f"{path}.{name}" if path else name
            definition, unit = definition_and_unit(inner)
            if link := NAMED.get(named_in(inner)):
                definition += f": {link}"
            lines.append([code(inner_path), codes(headings_of(inner)), definition, unit])
            if not named_in(inner):
                lines += value_lines(inner, inner_path)
        if each.get("type") == "array":
            lines += value_lines(each["items"], f"{path}[]")
    return lines


def value_table(schema: dict, left_out=("kind",)) -> str:
    lines = [line for line in value_lines(schema) if line[0].strip("`") not in left_out]
    return table(["Value", "Heading", "Definition", "Unit"], lines)


def same_in(columns: dict[str, dict], others: dict[str, dict]) -> list[str]:
    """Columns that others explain as well: with the same definition, and under no other heading."""
    return [name for name, schema in columns.items()
            if name in others and schema["description"] == others[name]["description"]
            and headings_of(schema) in ([], headings_of(others[name]))]


def file_section(csv: Csv, kind: Kind, schemas: Schemas) -> str:
    """A CSV file of a kind."""
    columns = columns_of(schemas.row(csv.row))
    is_first = csv is kind.files[0]
    words = f"A row of `{csv.file}` is {csv.row_is}. {kind.words.strip() if is_first else ''}"
    text = "".join(map(paragraph, words.split("\n\n")))
    if csv.row == RUNS:
        return text + column_table(columns) + FACTS + "\n"
    own = dict(columns)
    explained = [(f"`{kind.files[0].file}`", kind.name)] if not is_first else []
    for where, row in [*explained, ("[runs](#runs)", RUNS)]:
        same = same_in(own, columns_of(schemas.row(row)))
        own = {name: schema for name, schema in own.items() if name not in same}
        if same:
            text += paragraph(f"As in {where}: {codes(same)}.")
    return text + column_table(own) + paragraph(f"The file has, in this order: {codes(columns)}.")


def studies_section(kind: Kind, schemas: Schemas) -> str:
    about = schemas.details(kind.about)
    same = same_in(about["properties"], columns_of(schemas.row(kind.name)))
    return (f"### {kind.title}: studies in JSON\n\n"
            + paragraph(f"`studies` has an element for each {kind.about_is}. As in rows: {codes(same)}.")
            + value_table(about, ("kind", *same)))


def kind_section(kind: Kind, schemas: Schemas) -> str:
    text = f"## {kind.title}\n\n" + "".join(file_section(csv, kind, schemas) for csv in kind.files)
    if kind.title in OTHER_HEADINGS:
        text += f"### {kind.title}: headings that are no column\n\n"
        lines = [[code(heading), words] for heading, words in OTHER_HEADINGS[kind.title]]
        text += table(["Heading", "What it is"], lines)
    details = schemas.row(kind.name)["properties"].get("details")
    if details:
        text += f"### {kind.title}: details in JSON\n\n{value_table(details)}"
    if kind.title == "Training":
        account = schemas.details("account")
        text += f"### Training: an account\n\n{paragraph(account['description'] + '.')}{value_table(account)}"
    if kind.about:
        text += studies_section(kind, schemas)
    return text


def verdict_section(schemas: Schemas) -> str:
    """What an experiment says of the values that it expects."""
    return ("## Verdicts\n\n"
            + paragraph("An experiment that [expects](formats/expect.md) values has a table of them on the "
                        "terminal and in `verdicts.md`, and `verdicts` in `results.json`. A heading is that "
                        "of the table.")
            + value_table(schemas.element("run", "verdicts")))


def command_section(schemas: Schemas) -> str:
    text = "## Rows of other commands\n\n"
    text += paragraph("These commands run no study; their JSON has rows of their own in `runs`. A heading is "
                      "that of the command's table.")
    for command in COMMANDS:
        row = schemas.element(command, "runs")
        text += f"### tutti {command}\n\n" + paragraph(schemas.documents[f"{command}.json"]["description"])
        for one in row.get("oneOf", [row]):
            text += paragraph(f"{one['description']}:") if "oneOf" in row else ""
            text += value_table(one)
        if command == "profile":
            text += paragraph("In a profile:") + value_table(schemas.details("profile"))
    return text


def file_table() -> str:
    lines = [[f"[{kind.title}](#{kind.title.lower()})", code(f"[[{kind.name}]]"), kind.commands,
              code(csv.file), csv.row_is] for kind in KINDS for csv in kind.files]
    return table(["Kind", "In experiments", "Commands", "CSV file", "A row is"], lines)


def page(schemas: pathlib.Path) -> str:
    """The page in Markdown. `schemas`: the folder docs/schemas."""
    known = Schemas(schemas)
    parts = [INTRODUCTION.format(files=file_table().strip()), *(kind_section(kind, known) for kind in KINDS),
             verdict_section(known), SWEEPS, command_section(known)]
    return "\n".join(part.strip() + "\n" for part in parts)


if __name__ == "__main__":
    sys.stdout.write(page(pathlib.Path(__file__).resolve().parent / "schemas"))
