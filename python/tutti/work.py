"""Synthesis, verification, replays and bounds, and algorithms that are written in Python."""

from __future__ import annotations

import pathlib
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

from . import _tutti
from .errors import InputError, Interrupted
from .values import Bound, Outcome, Report, Verification

Heard = Callable[[str, int, int], object]
Progress = Union[None, bool, Heard]
Algorithm = Callable[..., Any]
ALGORITHMS: dict[str, Algorithm] = {}


@dataclass(frozen=True)
class Options:
    """What an algorithm in Python is told: the seed of all that it draws, `limit_s` (seconds that it
    may take, or None), and the texts of `settings`."""

    seed: int = 1
    limit_s: Optional[float] = None
    settings: Mapping[str, str] = field(default_factory=dict)


def algorithm(function: Optional[Algorithm] = None, *, name: Optional[str] = None) -> Any:
    """Registers a function `(topology, collective, options)` under its name, or under `name`, so that
    `synthesize(..., algorithm="NAME")` finds it; `tutti synth -a FILE.py:NAME` takes it as well.

    It returns, or yields, sends `(source, destination, chunk, "copy" | "reduce"[, after])`: ranks of
    the collective's group, a chunk by its number, and the index of an earlier send that has to arrive
    first. Each goes along the routed path between its ranks. Or it returns a `Schedule` of what was
    asked for, or `unsupported("why")`. What it makes is verified as every schedule is."""

    def register(made: Algorithm) -> Algorithm:
        known = name or made.__name__
        if known in _tutti.algorithm_names():
            raise ValueError(f"name: Tutti has an algorithm {known!r} of its own")
        ALGORITHMS[known] = made
        return made

    return register if function is None else register(function)


def unsupported(note: str, algorithm: str = "") -> Outcome:
    """The outcome of an algorithm that isn't made for this network, group or collective."""
    return Outcome(status="unsupported", algorithm=algorithm, note=note)


def required(value: Any, kind: type, argument: str) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{argument}: a tutti.{kind.__name__} is expected, not {type(value).__name__}")
    return value


def listener(progress: Progress) -> Optional[Heard]:
    """None, a function (stage, done, total), or True: tqdm where it is installed, else lines on stderr."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        if not callable(progress):
            raise TypeError(f"progress: True or a function is expected, not {type(progress).__name__}")
        return progress
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lambda stage, done, total: print(f"tutti: {stage}: {done} of {total or 'unknown'}", file=sys.stderr)
    bar = tqdm()

    def show(stage: str, done: int, total: int) -> None:
        bar.set_description(stage, refresh=False)
        bar.total, bar.n = total or None, done
        bar.refresh()

    return show


def texts_of(settings: Optional[Mapping[str, object]]) -> dict[str, str]:
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings: a mapping is expected, not {type(settings).__name__}")
    words = {True: "yes", False: "no"}
    return {str(k): words[v] if isinstance(v, bool) else str(v) for k, v in (settings or {}).items()}


def required_of(schedule: _tutti.Schedule, asked: _tutti.Collective, name: str) -> _tutti.Schedule:
    """The schedule, if it is of what was asked for. Errors: InputError in words."""
    made, chunks = schedule.collective, schedule.collective.parts[0]["chunks_per_shard"]
    if made.topology.fingerprint != asked.topology.fingerprint:
        raise InputError(f"algorithm {name}: its schedule is of another network, {made.topology.name}")
    wanted = asked if asked.chunks_asked is not None else asked.with_chunks(chunks)
    if made != wanted:
        raise InputError(f"algorithm {name}: its schedule is of {made.text}, {made.size_bytes} bytes in {chunks} "
                         f"chunks per shard, not of {wanted.text}, {wanted.size_bytes} bytes in "
                         f"{wanted.parts[0]['chunks_per_shard']}")
    return schedule


class _Late(Exception):
    """The time limit is over."""


def _in_time(sends: Iterable[Any], deadline: float) -> Iterator[Any]:
    for send in sends:
        if time.monotonic() > deadline:
            raise _Late
        yield send


def made_by(function: Algorithm, name: str, collective: _tutti.Collective, options: Options) -> Outcome:
    """What a function in Python makes of a collective, verified."""
    begin = time.process_time()
    deadline = time.monotonic() + (float("inf") if options.limit_s is None else options.limit_s)
    try:
        made = function(collective.topology, collective, options)
        if isinstance(made, Outcome) and made.schedule is None:
            return made
        if isinstance(made, Outcome):
            made = made.schedule
        if made is None:
            raise TypeError(f"algorithm {name}: it returned None, and no sends, Schedule or Outcome")
        if isinstance(made, _tutti.Schedule):
            required_of(made, collective, name)
        else:
            made = _tutti.Schedule.from_sends(collective, _in_time(made, deadline), name)
    except KeyboardInterrupt:
        raise Interrupted(None) from None
    except _Late:
        return Outcome(status="timed_out", algorithm=name, note=f"no schedule within {options.limit_s:g} s",
                       synthesis_s=time.process_time() - begin)
    planned = time.process_time()
    verdict = verify(made)
    return Outcome(status="feasible", algorithm=name, schedule=made, verification=verdict,
                   problem=f"fault: {verdict.fault}" if verdict.fault else "",
                   chunks=made.collective.parts[0]["chunks_per_shard"], synthesis_s=planned - begin,
                   verify_s=time.process_time() - planned)


def seconds_of(limit: Union[None, float, str]) -> Optional[float]:
    """Of a limit, whose memory nobody can take from a function in this process. Errors: InputError."""
    if isinstance(limit, str):
        parts = [part.strip() for part in limit.split(",")]
        sizes = [_tutti.parse_bytes(part) for part in parts if part.endswith("B")]
        times = [_tutti.parse_time(part) * 1e-12 for part in parts if not part.endswith("B")]
        if len(sizes) > 1 or len(times) > 1 or min(sizes, default=1) <= 0:
            raise InputError(f"limit {limit!r}: one time and one size, each more than 0, are expected")
        limit = times[0] if times else None
    if limit is not None and not limit > 0:
        raise InputError("limit: more than 0 seconds are needed")
    return limit


def synthesize(collective: _tutti.Collective, algorithm: Union[str, Algorithm] = "tacos", *,
               limit: Union[None, float, str] = None, threads: Optional[int] = None, seed: int = 1,
               settings: Optional[Mapping[str, object]] = None, routing: str = "auto",
               progress: Progress = None, **model: str) -> Outcome:
    """Makes a schedule and verifies it.

    `algorithm` is a name that `tutti list algorithms` or `@tutti.algorithm` knows, a function as
    described there, or one from outside (docs/formats/program.md): "FILE.py:NAME", "./program". `limit`
    is in seconds, or a text with time and memory ("60s,8GiB"); in a function only the time counts, and
    from send to send. The result is the same for any number of `threads` (default: all processors).
    `settings` are the algorithm's own options, and further keywords are those of the time model:
    `link_busy`, `forwarding`, which, like `routing`, no function takes. A collective without a number
    of chunks is cut as the command cuts it by default.

    Errors: InputError, TypeError with the argument's name; Interrupted, whose `best` is the best
    schedule so far. What has no schedule has a status that says so."""
    required(collective, _tutti.Collective, "collective")
    if not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise TypeError(f"seed: an int from 0 to 2^64 - 1 is expected, not {seed!r}")
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise TypeError(f"threads: an int from 1 on is expected, not {threads!r}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float, str))):
        raise TypeError(f"limit: seconds or a text with units is expected, not {limit!r}")
    heard, texts = listener(progress), texts_of(settings)
    function = ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else algorithm
    if isinstance(algorithm, str) and ".py:" in algorithm:  # which the command has another Python run
        function = loaded(algorithm)[1]
    if function is not None:
        if not callable(function):
            raise TypeError(f"algorithm: a name or a function is expected, not {type(function).__name__}")
        refused = {**model, **({} if routing == "auto" else {"routing": routing})}
        if refused:
            raise InputError(f"{', '.join(refused)}: not for a function, whose sends are routed, and timed, as "
                             "by default; replay() takes the keywords of the time model")
        name = algorithm if isinstance(algorithm, str) else getattr(function, "__name__", "function")
        return made_by(function, name, collective, Options(seed, seconds_of(limit), texts))
    answer = _tutti.synthesize(collective, str(algorithm), {
        "limit": limit, "threads": threads, "seed": seed, "settings": texts, "routing": routing,
        "model": model}, heard)
    verdict = answer.pop("verdict")
    return Outcome(algorithm=str(algorithm), **answer,
                   verification=Verification(**verdict) if verdict else None)


def verify(schedule: _tutti.Schedule, *, progress: Progress = None) -> Verification:
    """Whether the schedule implements its collective: the rules are in docs/model.md.

    Cost: O(transfers + chunks * nodes). Errors: Interrupted."""
    required(schedule, _tutti.Schedule, "schedule")
    return Verification(**_tutti.verify(schedule, listener(progress)))


def replay(schedule: _tutti.Schedule, engine: str = "native", *, deliveries: bool = False,
           hops: bool = False, starts_s: Optional[Mapping[int, float]] = None,
           progress: Progress = None, **model: str) -> Report:
    """Simulates a schedule, which is verified first.

    `engine` is "native", "simgrid" (in a process of its own) or "both", which must agree. `starts_s`
    says which nodes (ids) join late, in seconds. Further keywords are those of the time model:
    `link_busy`, `forwarding`, `discipline` ("fifo", "fluid"), `network_model`.

    Errors: InputError also for a schedule with a fault; Interrupted."""
    required(schedule, _tutti.Schedule, "schedule")
    answer = _tutti.replay(schedule, engine, model, bool(deliveries), bool(hops),
                           dict(starts_s or {}), listener(progress))
    return Report(topology=schedule.topology, collective=schedule.collective,
                  algorithm=schedule.algorithm, **answer)


def bound(collective: _tutti.Collective, effort: str = "quick", *, at_chunks: bool = False,
          **model: str) -> Bound:
    """A lower bound on the time of any schedule, or, `at_chunks`, of schedules of exactly these chunks.

    `effort` is "quick" or "full". Errors: InputError where a chunk can't reach who wants it."""
    required(collective, _tutti.Collective, "collective")
    return Bound(**_tutti.bound(collective, effort, bool(at_chunks), model))


def loaded(place: str) -> tuple[str, Algorithm]:
    """The function of "FILE.py:name"; without a name the file's only registered one.

    Errors: InputError."""
    import importlib.util

    file, mark, name = place.rpartition(".py:")
    file = file + ".py" if mark else place
    if not file.endswith(".py"):
        raise InputError(f"{place}: FILE.py:name is expected")
    if not pathlib.Path(file).is_file():
        raise InputError(f"{file}: there is no such file")
    known_as = f"tutti_user_algorithm:{pathlib.Path(file).resolve()}"
    spec = importlib.util.spec_from_file_location(known_as, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[known_as] = importlib.util.module_from_spec(spec)  # as dataclasses and pickles need it
    before = dict(ALGORITHMS)
    spec.loader.exec_module(module)
    new = [known for known, made in ALGORITHMS.items() if made is not before.get(known)]
    if not name and len(new) == 1:
        name = new[0]
    function = ALGORITHMS.get(name) if name in new else getattr(module, name or "?", None)
    if not callable(function):
        raise InputError(f"{file} has no algorithm {name!r} (registered: {', '.join(new) or 'none'})")
    return name, function


def transfers_of(schedule: _tutti.Schedule) -> Iterator[tuple[list[int], int, str, list[int]]]:
    """(links, chunk, "copy" | "reduce", transfers that must have arrived) of each transfer, as
    docs/formats/program.md has them. Errors: InputError for what can't be said so."""
    schedule = schedule.expanded()
    table, awaited = schedule.columns(), schedule.awaited
    if table["together"].any() or table["contiguous"].any() or not awaited["milestone"].all():
        raise InputError("this schedule has transfers that go together or contiguously, or wait until others have "
                         "left: an answer to the command can't say so")
    after: dict[int, list[int]] = {}
    for waits, transfer in zip(schedule.waiting.tolist(), awaited["transfer"].tolist()):
        after.setdefault(waits, []).append(transfer)
    rows = zip(table["chunk"].tolist(), table["path"].tolist(), table["reduce"].tolist())
    for i, (chunk, path, reduces) in enumerate(rows):
        yield schedule.path(path).tolist(), chunk, "reduce" if reduces else "copy", after.get(i, [])
