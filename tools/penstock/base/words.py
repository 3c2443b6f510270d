"""words.py: quantities as a person reads them."""

SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def seconds(value: float) -> str:
    """Three digits, in the unit that suits: "0.84 s", "12.3 ms"."""
    size, unit = _unit_of_time(value)
    return f"{digits(value / size)} {unit}"


def seconds_interval(median: float, low: float | None, high: float | None) -> str:
    """The interval in the unit that seconds() has for its MEDIAN: "11.2 to 14.8 ms"."""
    if low is None or high is None:
        return interval(low, high)
    size, unit = _unit_of_time(median)
    return f"{interval(low / size, high / size)} {unit}"


def _unit_of_time(value: float) -> tuple[float, str]:
    return next((pair for pair in SECONDS if abs(value) >= pair[0]), SECONDS[-1])


def duration(value: float) -> str:
    """A time to wait: "5 s", "2 min 05 s", "1 h 12 min"."""
    whole = max(0, round(value))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(count: float) -> str:
    """Bytes: "512 MiB", "1.5 GiB"."""
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while count >= 1024 and len(units) > 1:
        count /= 1024
        units.pop(0)
    return f"{count:.0f} {units[0]}" if count == int(count) else f"{digits(count)} {units[0]}"


def count(number: int, one: str, many: str) -> str:
    """ "1 file", "3 files"."""
    return f"{number} {one if number == 1 else many}"


def digits(value: float) -> str:
    """Three significant digits, without an exponent: "0.842", "12.3", "1240"."""
    magnitude = abs(value)
    for limit, places in ((99.95, 0), (9.995, 1), (0.9995, 2)):
        if magnitude >= limit:
            return f"{value:.{places}f}"
    return f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """ "0.801 to 0.913", or why there is none."""
    return "too few runs" if low is None or high is None else f"{digits(low)} to {digits(high)}"
