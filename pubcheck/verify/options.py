"""The options of pgoutput that a stream was requested with."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from pubcheck.stream.decode import Streaming


class Options(Struct, frozen=True):
    """The options of pgoutput that the stream was requested with; None for one that is not known."""

    proto_version: int | None = None
    binary: bool | None = None
    messages: bool | None = None
    streaming: Streaming | None = None
    two_phase: bool | None = None
    origin: str | None = None

    @staticmethod
    def of(options: Mapping[str, str]) -> Options:
        """Return the options of a slot's function or START_REPLICATION. Raises ValueError for an option or value that
        pgoutput does not have; publication_names is ignored."""
        for name in options:
            if name not in (*Options.__struct_fields__, "publication_names"):
                raise ValueError(f"pgoutput has no option {name!r}; it has {', '.join(Options.__struct_fields__)}")
        version = options.get("proto_version")
        if version is not None and not version.strip().isdigit():
            raise ValueError(f"proto_version is a number, not {version!r}")
        if version is not None and int(version) not in range(1, 5):
            raise ValueError(f"the versions of the protocol are 1 to 4, not {version}")
        return Options(
            None if version is None else int(version),
            _boolean(options.get("binary")),
            _boolean(options.get("messages")),
            _streaming(options.get("streaming")),
            _boolean(options.get("two_phase")),
            options.get("origin"),
        )


def _boolean(text: str | None) -> bool | None:
    if text is None:
        return None
    if text.lower() in ("on", "true", "yes", "1", "t"):
        return True
    if text.lower() in ("off", "false", "no", "0", "f"):
        return False
    raise ValueError(f"{text!r} is not on or off")


def _streaming(text: str | None) -> Streaming | None:
    if text is None:
        return None
    if text.lower() == "parallel":
        return "parallel"
    return "on" if _boolean(text) else "off"
