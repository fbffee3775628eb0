"""Subscriptions: which publications are subscribed together, and which statements the server refuses before it connects
(commands/subscriptioncmds.c).

The publications belong to another database; the rules decide whether they are this unit's too. The connection to the
publisher is assumed to succeed, and everything that depends on it is assumed.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import OTHER
from pubcheck.postgres.catalog.rows import EMBEDDED, Place, Role, Subscription
from pubcheck.postgres.conninfo import complaint
from pubcheck.postgres.ddl.subscription_options import (
    KEY,
    Options,
    exclude,
    exclude_without_slot,
    is_abbreviation,
    parse_options,
    refuse_creation,
    refuse_owner,
    refuse_renaming,
    refuse_without_password,
    require_password,
)
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import folded, tokens

_KIND = "subscription"


def create_subscription(session: Session, node: Node) -> None:
    """CreateSubscription, up to the connection. Raises ServerError."""
    catalog, name = session.catalog, node["subname"]
    options = parse_options(session, node.get("options", ()), "create")
    option_names = frozenset(options)
    exclude(options)
    exclude_without_slot(options, option_names)
    if options["create_slot"]:
        _outside_transaction(session, "CREATE SUBSCRIPTION ... WITH (create_slot = true)")
    password_required = options.get("password_required", True)
    refuse_creation(session, password_required)
    held = catalog.subscriptions.get(name)
    start = session.find_name(name) or 0
    place = session.place(start, len(name.encode()))
    if held is not None:
        _assume_same_subscriber(session, held)
        raise _refused("42710", EXISTS, place, "subscription-exists", subscription=name)
    if "servername" in node:
        _check_server(session, node["servername"])
    else:
        _check_connection(session, node)
        require_password(session, node.get("conninfo", ""), session.role, password_required)
    named = _named(session, node)
    _refuse_repeats(named)
    row = Subscription(
        name,
        tuple(named),
        place,
        seen=session.basis.certain,
        enabled=options["enabled"],
        slot=options.get("slot_name", name) is not None,
        connected=options["connect"],
        owner=session.setting("role"),
        password_required=password_required,
        binary=bool(options.get("binary", False)),
    )
    catalog.put_subscription(row)


def alter_subscription(session: Session, node: Node) -> None:
    """AlterSubscription, up to the connection; the publications and whether it is enabled are kept.

    Raises ServerError.
    """
    kind, name = node.get("kind", "").removeprefix("ALTER_SUBSCRIPTION_"), node["subname"]
    row = session.catalog.subscriptions.get(name)
    if row is None:
        _require(session, name)
        row = Subscription(name, (), session.place(0), seen=False, enabled=None, slot=None)
        _ALTER[kind](session, node, row)
        return
    certain = session.basis.certain
    _rests_on(session, row)
    _require_owner(session, row)
    refuse_without_password(session, row.password_required)
    changed = _ALTER[kind](session, node, row)
    if changed is not row:
        # What a statement that perhaps runs did is perhaps so.
        session.catalog.put_subscription(replace(changed, seen=row.seen and certain))


def drop_subscription(session: Session, node: Node) -> None:
    """DropSubscription, up to the connection. Raises ServerError 42704 and 25001."""
    catalog, name = session.catalog, node["subname"]
    row = catalog.subscriptions.get(name)
    if row is None:
        if not node.get("missing_ok"):
            _require(session, name)
            _outside_transaction(session, "DROP SUBSCRIPTION")
        return
    _require_owner(session, row)
    if row.slot:
        _rests_on(session, row)
        _outside_transaction(session, "DROP SUBSCRIPTION")
    catalog.remove_subscription(name)
    # One with a slot goes only if the publisher is reached.
    catalog.gone.put((_KIND, 0, name), not row.slot)


def rename_subscription(session: Session, node: Node) -> None:
    """ALTER SUBSCRIPTION ... RENAME TO (AlterObjectRename_internal). Raises ServerError 42704 and 42710."""
    catalog, name, new = session.catalog, node["object"]["String"]["sval"], node["newname"]
    row = catalog.subscriptions.get(name)
    if row is None:
        _require(session, name)
        return
    _require_owner(session, row)
    refuse_without_password(session, row.password_required)
    refuse_renaming(session)
    held = catalog.subscriptions.get(new)
    if held is not None:
        _rests_on(session, row)
        _assume_same_subscriber(session, held)
        place = session.place(session.find_name(new) or 0)
        raise _refused("42710", EXISTS, place, "subscription-exists", subscription=new)
    catalog.remove_subscription(name)
    catalog.put_subscription(replace(row, name=new))


# What a statement rests on.


def _rests_on(session: Session, row: Subscription) -> None:
    if not row.seen or row.connected:
        session.assume(f'the state of subscription "{row.name}", which the publisher decides as well')


def _assume_same_subscriber(session: Session, row: Subscription) -> None:
    """A name that a subscription has; but files of one folder may be of several subscribers."""
    _rests_on(session, row)
    if row.place.source != session.source:
        session.assume(f'whether these files are for one subscriber: another file creates subscription "{row.name}"')


def _require_owner(session: Session, row: Subscription) -> None:
    """Raises ServerError 42501."""
    if not session.owns(row.owner):
        _rests_on(session, row)
        raise ServerError("42501", f"must be owner of subscription {row.name}", key="permission")


def change_owner(session: Session, name: str, owner: Role) -> None:
    """ALTER SUBSCRIPTION ... OWNER TO (AlterSubscriptionOwner). Raises ServerError 42704 and 42501."""
    row = session.catalog.subscriptions.get(name)
    if row is None:
        _require(session, name)
        return
    if row.owner == owner.oid:
        return
    _require_owner(session, row)
    refuse_owner(session, row, owner)
    session.catalog.put_subscription(replace(row, owner=owner.oid))


def _require(session: Session, name: str) -> None:
    """A subscription that is not there. Raises ServerError 42704 where that is certain; the rest is assumed."""
    if session.is_closed(_KIND, 0, name):
        if session.catalog.gone.get((_KIND, 0, name)) is False:
            session.assume(f'the earlier DROP of subscription "{name}"')
        place = session.place(session.find_name(name) or 0)
        message = 'subscription "{subscription}" does not exist'
        raise _refused("42704", message, place, "no-subscription", subscription=name)
    session.assume(f'subscription "{name}", which these files do not create')


def _outside_transaction(session: Session, command: str) -> None:
    """PreventInTransactionBlock. Raises ServerError 25001."""
    if session.statement >= EMBEDDED:
        session.assume("whether a transaction block is around the call")  # the server would report that first
        raise ServerError("25001", "{what} cannot be executed from a function", key="in-function", what=command)
    if session.transaction is not None and not session.pretended:
        raise ServerError("25001", "{what} cannot run inside a transaction block", key="in-transaction", what=command)


def _check_connection(session: Session, node: Node) -> None:
    """libpqrcv_check_conninfo. Raises ServerError 42601."""
    text = node.get("conninfo", "")
    complaint_text = complaint(text, session.catalog.major)
    if complaint_text is None or is_abbreviation(text):
        return
    # A statement text without options may be a rewritten one that had some.
    if "=" not in text:
        session.assume("the connection string as it is written")
    problem, location = complaint_text.removesuffix("\n"), node.get("conninfo_location", 0)
    message = "invalid connection string syntax: {what}" + complaint_text[len(problem) :]
    raise ServerError("42601", message, key="connection-string", culprit=location, what=problem)


def _check_server(session: Session, name: str) -> None:
    """The foreign server whose options are the connection string. Raises ServerError 42704 and 0A000."""
    # Loaded only where a subscription names a server.
    from pubcheck.postgres.ddl.other_statements import SERVER, WRAPPER

    catalog = session.catalog
    server = catalog.other_names.get((SERVER, 0, name))
    if server is None:
        if session.blind or session.extensions or not session.complete:
            session.assume(f'server "{name}", which these files do not create')
            return
        raise ServerError("42704", 'server "{server}" does not exist', key=KEY, server=name)
    wrappers = [key[1] for key, _ in catalog.dependencies.get((OTHER, server)) if key[0] == OTHER]
    for wrapper in (catalog.others[oid] for oid in wrappers if catalog.others[oid].kind == WRAPPER):
        raise ServerError(
            "0A000",
            'foreign-data wrapper "{wrapper}" does not support subscription connections',
            key=KEY,
            detail="Foreign-data wrapper must be defined with CONNECTION specified.",
            wrapper=wrapper.name,
        )


EXISTS = 'subscription "{subscription}" already exists'


def _refused(sqlstate: str, message: str, place: Place, key: str, **arguments: str) -> ServerError:
    return ServerError(
        sqlstate, message, key=key, detail=None, hint=None, location=None, culprit=place.start, **arguments
    )


# The forms of ALTER SUBSCRIPTION: each takes the subscription and gives it as it is then.


def _set_options(session: Session, node: Node, row: Subscription) -> Subscription:
    options = parse_options(session, node.get("options", ()), "alter")
    if "slot_name" in options and row.enabled and options["slot_name"] is None:
        message = "cannot set {option} = NONE for enabled subscription"
        raise ServerError("55000", message, key="option-of-enabled", option="slot_name")
    if "two_phase" in options:
        _require_alterable(session, row, "two_phase", of_slot=not options["two_phase"])
        if not options["two_phase"] and "slot_name" in options:
            message = '"slot_name" and "two_phase" cannot be altered at the same time'
            raise ServerError("42601", message, key=KEY)
    if "failover" in options:
        if row.enabled and not session.catalog.major.enabled_refusal_names_option:
            message = "cannot set {option} for enabled subscription"
            raise ServerError("55000", message, key="option-of-enabled", option="failover")
        _require_alterable(session, row, "failover", of_slot=True)
    if "retain_dead_tuples" in options:
        _require_alterable(session, row, "retain_dead_tuples", of_slot=False)
    if "password_required" in options:
        refuse_without_password(session, options["password_required"])
        row = replace(row, password_required=options["password_required"])
    if "binary" in options:
        row = replace(row, binary=bool(options["binary"]))
    return replace(row, slot=options["slot_name"] is not None) if "slot_name" in options else row


def _require_alterable(session: Session, row: Subscription, option: str, *, of_slot: bool) -> None:
    """CheckAlterSubOption."""
    if row.enabled:
        message = 'cannot set option "{option}" for enabled subscription'
        raise ServerError("55000", message, key="option-of-enabled", option=option)
    if of_slot:
        if row.slot is False:
            message = f'cannot set option "{option}" for a subscription that does not have a slot name'
            raise ServerError("55000", message, key=KEY)
        _outside_transaction(session, f"ALTER SUBSCRIPTION ... SET ({option})")


def _enable(session: Session, node: Node, row: Subscription) -> Subscription:
    enabled = parse_options(session, node.get("options", ()), "enabled")["enabled"]
    if enabled and row.slot is False:
        message = "cannot enable subscription that does not have a slot name"
        raise ServerError("55000", message, key="enable-without-slot")
    return replace(row, enabled=enabled)


def _set_connection(session: Session, node: Node, row: Subscription) -> Subscription:
    _check_connection(session, node)
    owner = session.catalog.roles.get(row.owner)
    if owner is not None:
        require_password(session, node.get("conninfo", ""), owner, row.password_required)
    return row


def _set_server(session: Session, node: Node, row: Subscription) -> Subscription:
    _check_server(session, node["servername"])
    return row


def _skip(session: Session, node: Node, row: Subscription) -> Subscription:
    parse_options(session, node.get("options", ()), "skip")
    return row


DISABLED = "{what} is not allowed for disabled subscriptions"


def _refresh(session: Session, node: Node, row: Subscription) -> Subscription:
    command = "ALTER SUBSCRIPTION ... REFRESH"
    if session.catalog.major.publishes_sequences:
        command += " SEQUENCES" if node["kind"].endswith("SEQUENCES") else " PUBLICATION"
    if row.enabled is False:
        raise ServerError("55000", DISABLED, key="refresh-of-disabled", what=command)
    parse_options(session, node.get("options", ()), "refresh")
    _outside_transaction(session, command)
    return row


def _change_publications(session: Session, node: Node, row: Subscription) -> Subscription:
    """SET, ADD and DROP PUBLICATION (merge_publications)."""
    verb = node["kind"].removeprefix("ALTER_SUBSCRIPTION_").removesuffix("_PUBLICATION")
    options = parse_options(session, node.get("options", ()), "publications")
    named = _named(session, node)
    _refuse_repeats(named)
    had, changed = {publication for publication, _ in row.publications}, {publication for publication, _ in named}
    for publication, place in named:
        arguments = {"publication": publication, "subscription": row.name}
        if verb == "ADD" and publication in had:
            message = 'publication "{publication}" is already in subscription "{subscription}"'
            error = _refused("42710", message, place, "publication-already-subscribed", **arguments)
            raise error.about(publication)
        if verb == "DROP" and had and publication not in had:
            message = 'publication "{publication}" is not in subscription "{subscription}"'
            raise _refused("42P17", message, place, "publication-not-subscribed", **arguments)
    if verb == "DROP" and had == changed:
        message = "cannot drop all the publications from a subscription"
        raise ServerError("42P17", message, key="last-publication")
    instead = "" if verb == "SET" else " instead"
    _refresh_with(session, row, options, f"{verb} PUBLICATION ... WITH (refresh = false){instead}.")
    stay = () if verb == "SET" else tuple(entry for entry in row.publications if entry[0] not in changed)
    return replace(row, publications=stay if verb == "DROP" else (*stay, *named))


def _refuse_repeats(named: list[tuple[str, Place]]) -> None:
    seen: set[str] = set()
    for publication, place in named:
        if publication in seen:
            message = 'publication name "{publication}" used more than once'
            error = _refused("42710", message, place, "publication-named-twice", publication=publication)
            raise error.about(publication)
        seen.add(publication)


def _refresh_with(session: Session, row: Subscription, options: Options, instead: str) -> None:
    """The refresh that goes with a change of the publications, unless it is turned off."""
    if not options.get("refresh", True):
        return
    command = "ALTER SUBSCRIPTION with refresh"
    if row.enabled is False:
        raise ServerError(
            "55000", DISABLED, key="refresh-of-disabled", hint=f"Use ALTER SUBSCRIPTION ... {instead}", what=command
        )
    _outside_transaction(session, command)


_ALTER = {
    "OPTIONS": _set_options,
    "ENABLED": _enable,
    "CONNECTION": _set_connection,
    "SKIP": _skip,
    "REFRESH": _refresh,
    "REFRESH_SEQUENCES": _refresh,
    "SERVER": _set_server,
    "SET_PUBLICATION": _change_publications,
    "ADD_PUBLICATION": _change_publications,
    "DROP_PUBLICATION": _change_publications,
}


def _named(session: Session, node: Node) -> list[tuple[str, Place]]:
    """The publications of a statement, and where each is: the last names before WITH."""
    publications = [item["String"]["sval"] for item in node.get("publication", ())]
    places: list[tuple[str, Place]] = []
    after = False
    for kind, token, offset in tokens(session.text):
        if kind != "name":
            continue
        if not after:
            after = token.lower() == b"publication"
        elif len(places) < len(publications) and folded(token) == publications[len(places)]:
            places.append((publications[len(places)], session.place(offset, len(token))))
    return places if len(places) == len(publications) else [(name, session.place(0)) for name in publications]
