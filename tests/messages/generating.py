"""Messages of every kind, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from pubcheck.stream import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    BeginPrepare,
    Column,
    Commit,
    CommitPrepared,
    Delete,
    Insert,
    Message,
    Origin,
    Prepare,
    Relation,
    RollbackPrepared,
    StreamAbort,
    StreamCommit,
    StreamPrepare,
    StreamStart,
    StreamStop,
    Truncate,
    Type,
    Update,
)

_lsns = st.integers(0, 2**64 - 1)
_times = st.integers(-(2**63), 2**63 - 1)
_numbers = st.integers(0, 2**32 - 1)
_tokens = st.sampled_from(
    [b"t\0\0", b"\0", b"\xdb", b"\xdb\xa0", b"t", b"n", b"N\0", b"a" * 116, b"a" * 0x7400, b"\xc3\xa4"]
)
_contents = st.binary(max_size=40) | st.lists(_tokens, max_size=6).map(b"".join)


def _text(contents: st.SearchStrategy[bytes]) -> st.SearchStrategy[str]:
    """Texts as bytes decode to them: other ones with surrogates do not come back."""
    return contents.map(lambda content: content.decode("utf-8", "surrogateescape"))


_texts = _text(_contents) | st.text(st.characters(exclude_categories=["Cs"]))
_names = _text(_contents.map(lambda content: content.replace(b"\0", b"")))
_rows = st.lists(st.none() | st.just(UNCHANGED_TOAST) | _texts | _contents, max_size=8).map(tuple)
_old_kinds = st.sampled_from(["K", "O"])
_columns = st.builds(Column, _names, _numbers, st.integers(-(2**31), 2**31 - 1), st.booleans())


def _in_block(xid: st.SearchStrategy[int | None]) -> st.SearchStrategy[AnyMessage]:
    oids = st.lists(_numbers, max_size=5).map(tuple)
    return st.one_of(
        st.builds(
            Relation,
            _numbers,
            _names,
            _names,
            st.sampled_from("dnfi"),
            st.lists(_columns, max_size=5).map(tuple),
            xid,
        ),
        st.builds(Type, _numbers, _names, _names, xid),
        st.builds(Insert, _numbers, _rows, xid),
        st.builds(Update, _numbers, _rows, st.none(), st.none(), xid),
        st.builds(Update, _numbers, _rows, _rows, _old_kinds, xid),
        st.builds(Delete, _numbers, _rows, _old_kinds, xid),
        st.builds(Truncate, oids, st.booleans(), st.booleans(), xid),
        st.builds(Message, st.booleans(), _lsns, _names, st.binary(max_size=60), xid),
    )


_prepared = (_lsns, _lsns, _times, _numbers, _names)

changes_in_block = _in_block(_numbers)
"""The messages that have a transaction ID inside a streamed block, with one."""

changes = _in_block(st.none())
"""The same outside it."""

others: st.SearchStrategy[AnyMessage] = st.one_of(
    st.builds(Begin, _lsns, _times, _numbers),
    st.builds(Commit, _lsns, _lsns, _times),
    st.builds(Origin, _lsns, _names),
    st.builds(StreamStart, _numbers, st.booleans()),
    st.just(StreamStop()),
    st.builds(StreamCommit, _numbers, _lsns, _lsns, _times),
    st.builds(StreamAbort, _numbers, _numbers),
    st.builds(StreamAbort, _numbers, _numbers, _lsns, _times),
    st.builds(BeginPrepare, *_prepared),
    st.builds(Prepare, *_prepared),
    st.builds(CommitPrepared, *_prepared),
    st.builds(StreamPrepare, *_prepared),
    st.builds(RollbackPrepared, _lsns, _lsns, _times, _times, _numbers, _names),
)
"""The messages that are the same inside and outside a block."""
