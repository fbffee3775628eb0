"""The generated corpora are what they claim to be: the same every time, right where they shall be, and wrong where a
fault is planted."""

from __future__ import annotations

from collections import Counter

import pytest

from corpus.generate import Repository, Shape, repositories, repository
from corpus.generate.conventions import CONVENTIONS
from corpus.generate.faults import FAULTS
from pubcheck.discovery.file_facts import may_publish
from tests.support.servers import Servers, execute, writes_refused


def test_a_repository_depends_on_seed_and_number_alone() -> None:
    assert repository(1, 7) == repository("1", 7) == list(repositories(1, 8))[7]
    assert len({repository(seed, 7).name + str(repository(seed, 7).files) for seed in range(5)}) == 5


@pytest.fixture(scope="module")
def many() -> list[Repository]:
    return list(repositories(1, 600, Shape(tables=3, faulty=0.4)))


def test_all_conventions_and_faults_occur_and_shares_are_as_asked(many: list[Repository]) -> None:
    assert {generated.kind for generated in many} == {convention.__name__ for convention in CONVENTIONS}
    assert {fault.fault for repository in many for fault in repository.planted} == set(FAULTS)
    assert 0.5 < sum(1 for generated in many if generated.holds) / len(many) < 0.8
    assert 0.15 < sum(1 for generated in many if generated.planted) / len(many) < 0.35


def test_it_is_known_which_repositories_hold_publications(many: list[Repository]) -> None:
    for generated in many:
        assert any(map(may_publish, generated.files.values())) == generated.holds, generated.name


def test_a_planted_fault_stands_at_its_line(many: list[Repository]) -> None:
    for generated in many:
        for planted in generated.planted:
            line = generated.files[planted.path].decode().split("\n")[planted.line - 1]
            assert "faulty_" in line or "planted_" in line


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_servers_answer_faults_as_they_are_planted(servers: Servers, major: int) -> None:
    server = servers[major]
    with server.database() as name, server.connect(name) as conn:
        for number, make in enumerate(FAULTS.values()):
            table = f"t{number}"
            fault = make(table, f"p{number}")
            answers = [execute(conn, statement) for statement in fault.statements]
            refusals: Counter[tuple[int, str | None, str | None]] = Counter(
                (index, answer.sqlstate, None) for index, answer in enumerate(answers) if not answer.ok
            )
            if any(refusal.operation for refusal in fault.expected):
                last = len(answers) - 1
                refused = writes_refused(conn, table).items()
                refusals += Counter(
                    (last, answer.sqlstate, operation) for operation, answer in refused if answer is not None
                )
            expected = (
                (refusal.statement, refusal.sqlstate, refusal.operation)
                for refusal in fault.expected
                if refusal.sqlstate
            )
            assert refusals == Counter(expected), fault


@pytest.mark.server
def test_a_server_refuses_nothing_where_no_fault_is_planted(servers: Servers) -> None:
    server = servers[18]
    for generated in repositories(1, 25, Shape(tables=4, quiet=0, faulty=0, plain=True)):
        with server.database() as name, server.connect(name) as conn:
            (content,) = generated.files.values()
            answer = execute(conn, content.decode())
            assert answer.ok, (generated.name, answer)
