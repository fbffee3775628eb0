"""Subscriptions, as far as they say which publications are subscribed together (commands/subscriptioncmds.c).

The publications are another database's: whether they are this unit's too is for the rules to say.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Place, Subscription
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.scan import folded, tokens
from pubcheck.postgres.session import Session

_DUPLICATES = "publication-missing-subscribe"


def create_subscription(session: Session, node: Node) -> None:
    """CreateSubscription. Raises ServerError 42710 where a publication is named twice."""
    name = node["subname"]
    named = _named(session, node)
    seen: dict[str, Place] = {}
    for publication, place in named:
        if publication in seen:
            raise _twice(publication, place)
        seen[publication] = place
    start = session.find_name(name) or 0
    place = session.place(start, len(name.encode()))
    session.catalog.subscriptions.put(name, Subscription(name, tuple(named), place, not session.assumed))


def alter_subscription(session: Session, node: Node) -> None:
    """ALTER SUBSCRIPTION ... ADD, SET or DROP PUBLICATION; the other forms leave the publications as they are.

    Raises ServerError 42710 where a publication is named twice, or is added that the subscription has
    (merge_publications). What the options forbid is not looked at.
    """
    kind = node.get("kind", "")
    row = session.catalog.subscriptions.get(node["subname"])
    if row is None or not kind.endswith("_PUBLICATION"):
        return
    named = _named(session, node)
    names = [publication for publication, _ in named]
    for at, (publication, place) in enumerate(named):
        if publication in names[:at]:
            raise _twice(publication, place)
    if kind == "ALTER_SUBSCRIPTION_ADD_PUBLICATION":
        had = {publication for publication, _ in row.publications}
        for publication, place in named:
            if publication in had:
                session.assumed = session.assumed or not row.seen
                raise _subscribed(row.name, publication, place)
        named = [*row.publications, *named]
    elif kind == "ALTER_SUBSCRIPTION_DROP_PUBLICATION":
        named = [one for one in row.publications if one[0] not in names]
    seen = row.seen and not session.assumed
    session.catalog.subscriptions.put(row.name, replace(row, publications=tuple(named), seen=seen))


def drop_subscription(session: Session, node: Node) -> None:
    """DropSubscription."""
    session.catalog.subscriptions.remove(node["subname"])


def rename_subscription(session: Session, node: Node) -> None:
    """ALTER SUBSCRIPTION ... RENAME TO."""
    subscriptions = session.catalog.subscriptions
    row = subscriptions.get(node["object"]["String"]["sval"])
    if row is not None:
        subscriptions.remove(row.name)
        subscriptions.put(node["newname"], replace(row, name=node["newname"]))


def _named(session: Session, node: Node) -> list[tuple[str, Place]]:
    """The publications of a statement, and where each stands: the last names before WITH."""
    wanted = [item["String"]["sval"] for item in node.get("publication", ())]
    found: list[tuple[str, Place]] = []
    after = False
    for kind, token, offset in tokens(session.text):
        if kind != "name":
            continue
        if not after:
            after = token.lower() == b"publication"
        elif len(found) < len(wanted) and folded(token) == wanted[len(found)]:
            found.append((wanted[len(found)], session.place(offset, len(token))))
    return found if len(found) == len(wanted) else [(name, session.place(0)) for name in wanted]


def _subscribed(subscription: str, publication: str, place: Place) -> ServerError:
    message = f'publication "{publication}" is already in subscription "{subscription}"'
    error = ServerError("42710", message, rule=_DUPLICATES, culprit=place.start)
    error.publication = publication
    return error


def _twice(publication: str, place: Place) -> ServerError:
    error = ServerError(
        "42710",
        f'publication name "{publication}" used more than once',
        rule=_DUPLICATES,
        culprit=place.start,
    )
    error.publication = publication
    return error
