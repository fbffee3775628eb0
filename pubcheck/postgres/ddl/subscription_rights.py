"""The rights to create, change and own a subscription (commands/subscriptioncmds.c).

Before 16 only superusers have them. Roles that the unit did not create are assumed to be superusers, as everywhere.
"""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import Role, Subscription
from pubcheck.postgres.conninfo import has_password
from pubcheck.postgres.errors import NO_CREATE_IN_DATABASE, NO_SET_ROLE, ServerError
from pubcheck.postgres.session import Session

_KEY = "permission"
_HINT = "Subscriptions with the password_required option set to false may only be created or modified by the superuser."


def refuse_creation(session: Session, password_required: bool) -> None:
    """CreateSubscription. Raises ServerError 42501."""
    if session.superuser():
        return
    if not session.catalog.major.subscription_rights:
        raise ServerError("42501", "must be superuser to create subscriptions", key=_KEY)
    needed = session.role_named("pg_create_subscription")
    if not session.has_privileges_of(needed.oid):
        raise ServerError(
            "42501",
            "permission denied to create subscription",
            key=_KEY,
            detail='Only roles with privileges of the "pg_create_subscription" role may create subscriptions.',
        )
    _require_database(session)
    refuse_without_password(session, password_required)


def refuse_without_password(session: Session, password_required: bool) -> None:
    """Raise ServerError 42501 for a role other than a superuser without a password."""
    if not password_required and not session.superuser():
        raise ServerError("42501", "password_required=false is superuser-only", key=_KEY, hint=_HINT)


def require_password(session: Session, connection: str, owner: Role, password_required: bool) -> None:
    """libpqrcv_check_conninfo: the connection string of an owner that is not a superuser. Raises ServerError 2F003."""
    if not session.catalog.major.subscription_rights or owner.superuser or not owner.seen or not password_required:
        return
    if not has_password(connection):
        raise ServerError(
            "2F003",
            "password is required",
            key=_KEY,
            detail="Non-superusers must provide a password in the connection string.",
        )


def refuse_renaming(session: Session) -> None:
    """Raise ServerError 42501: RENAME TO needs CREATE on the database, from 16 on."""
    if session.catalog.major.subscription_rights:
        _require_database(session)


def refuse_owner(session: Session, row: Subscription, new: Role) -> None:
    """AlterSubscriptionOwner_internal, once the current owner is checked. Raises ServerError 42501."""
    if not session.catalog.major.subscription_rights:
        if new.seen and not new.superuser:
            raise ServerError(
                "42501",
                f'permission denied to change owner of subscription "{row.name}"',
                key=_KEY,
                hint="The owner of a subscription must be a superuser.",
            )
        return
    refuse_without_password(session, row.password_required)
    if not session.member_of(new.oid):
        raise ServerError("42501", NO_SET_ROLE, key="set-role", role=new.name)
    _require_database(session)


def _require_database(session: Session) -> None:
    if not session.may_create_in_database():
        catalog = session.catalog
        session.assume_database()
        raise ServerError("42501", NO_CREATE_IN_DATABASE, key="create-in-database", database=catalog.database)
