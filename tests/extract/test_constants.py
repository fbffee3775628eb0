"""Names of a program that stand for one text are put into its statements; those that may stand for more are not."""

from __future__ import annotations

import pytest

from pubcheck import extract

KNOWN = {
    ("python", "alembic2"): (
        1,
        """\
from alembic import op
from sqlalchemy import text
revision = "a1"
down_revision = None
PUB = "up1"

def upgrade():
    conn = op.get_bind()
    conn.execute(text(f"CREATE PUBLICATION {PUB} FOR TABLE orders"))

def downgrade():
    op.get_bind().execute(text("CREATE PUBLICATION down FOR TABLE orders"))
""",
    ),
    ("csharp", "ef2"): (
        1,
        """\
using Microsoft.EntityFrameworkCore.Migrations;
namespace X
{
    public partial class Pub : Migration
    {
        private const string Table = "orders";
        protected override void Up(MigrationBuilder migrationBuilder)
        {
            migrationBuilder.Sql($"CREATE PUBLICATION up1 FOR TABLE {Table}");
        }
        protected override void Down(MigrationBuilder b) => b.Sql("CREATE PUBLICATION down FOR TABLE orders");
    }
}
""",
    ),
    ("go", "const"): (
        1,
        """\
package repl

const publication = "up1"
const table = "orders"

func setup(db *sql.DB) error {
	_, err := db.Exec(fmt.Sprintf("CREATE PUBLICATION %s FOR TABLE %s", publication, table))
	return err
}
""",
    ),
    ("python", "const2"): (
        3,
        """\
TABLE = "orders"
PUB = "up1"

def setup(cur):
    cur.execute("CREATE PUBLICATION %s FOR TABLE %s" % (PUB, TABLE))
    cur.execute("CREATE PUBLICATION {} FOR TABLE {}".format(PUB, TABLE))
    cur.execute("CREATE PUBLICATION " + PUB + " FOR TABLE " + TABLE + "")
""",
    ),
    ("javascript", "const3"): (
        1,
        """\
const TABLE = 'orders';
const PUB = "up1";
export async function setup(client) {
  await client.query(`CREATE PUBLICATION ${PUB} FOR TABLE ${TABLE}`);
}
""",
    ),
    ("java", "const4"): (
        2,
        """\
class Setup {
  private static final String PUB = "up1";
  void run(Statement s) throws SQLException {
    s.execute("CREATE PUBLICATION " + PUB + " FOR TABLE orders");
    s.execute(String.format("CREATE PUBLICATION %s FOR TABLE orders", PUB));
  }
}
""",
    ),
    ("ruby", "const5"): (
        1,
        """\
PUB = "up1"
class S
  def run
    conn.exec("CREATE PUBLICATION #{PUB} FOR TABLE orders")
  end
end
""",
    ),
    ("elixir", "const6"): (
        1,
        """\
defmodule S do
  @pub "up1"
  def run(repo), do: repo.query!("CREATE PUBLICATION #{@pub} FOR TABLE orders")
end
""",
    ),
}

NOT_KNOWN = {
    ("python", "twice"): """\
TABLE = "orders"
TABLE = "items"
def f(cur): cur.execute(f"ALTER PUBLICATION p ADD TABLE {TABLE}")
""",
    ("python", "param"): """\
table = "orders"
def f(cur, table): cur.execute(f"ALTER PUBLICATION p ADD TABLE {table}")
""",
    ("python", "kwarg"): """\
x = make(
    table="orders"
)
def f(cur): cur.execute(f"ALTER PUBLICATION p ADD TABLE {table}")
""",
    ("javascript", "loop"): """\
const table = "orders";
for (const table of tables) { client.query(`ALTER PUBLICATION p ADD TABLE ${table}`); }
""",
    ("javascript", "arrow"): """\
const table = "orders";
tables.forEach(table => client.query(`ALTER PUBLICATION p ADD TABLE ${table}`));
""",
    ("python", "append"): """\
T = "orders"
T += "_x"
cur.execute(f"ALTER PUBLICATION p ADD TABLE {T}")
""",
    ("go", "goassign"): """\
table := "orders"
if x { table = "items" }
db.Exec("ALTER PUBLICATION p ADD TABLE " + table)
""",
    ("go", "gofor"): """\
table := "orders"
for _, table := range tables { db.Exec(fmt.Sprintf("ALTER PUBLICATION p ADD TABLE %s", table)) }
""",
    ("php", "php"): """\
<?php
$t = "orders";
foreach ($ts as $t) { DB::statement("ALTER PUBLICATION p ADD TABLE $t"); }
""",
    ("python", "expr"): """\
T = "orders" + suffix
cur.execute(f"ALTER PUBLICATION p ADD TABLE {T}")
""",
    ("python", "cond"): """\
T = "orders" if x else "items"
cur.execute(f"ALTER PUBLICATION p ADD TABLE {T}")
""",
    ("python", "attr"): """\
class A:
    TABLE = "orders"
    def f(self, cur): cur.execute(f"ALTER PUBLICATION p ADD TABLE {self.TABLE}")
    def g(self, o): self.TABLE = o
""",
    ("java", "javaparam"): """\
class A { static final String T = "orders"; void f(String T) { s.execute("ALTER PUBLICATION p ADD TABLE " + T); } }
""",
    ("ruby", "ruby"): """\
t = "orders"
%w[a b].each do |t|
  execute "ALTER PUBLICATION p ADD TABLE #{t}"
end
""",
    ("java", "kt"): """\
val t = "orders"
fun f(t: String) { exec("ALTER PUBLICATION p ADD TABLE " + t) }
""",
    ("python", "walrus"): """\
T = "orders"
with x as T:
    cur.execute(f"ALTER PUBLICATION p ADD TABLE {T}")
""",
    ("python", "tuple"): """\
T = "orders"
T, U = a, b
cur.execute(f"ALTER PUBLICATION p ADD TABLE {T}")
""",
    ("javascript", "augm"): """\
let t = "orders";
t = other;
q(`ALTER PUBLICATION p ADD TABLE ${t}`);
""",
    ("javascript", "destruct"): """\
const t = "orders";
function f({ t }) { q(`ALTER PUBLICATION p ADD TABLE ${t}`); }
const g = async (q, t) => { q(`ALTER PUBLICATION p ADD TABLE ${t}`); }
""",
    ("csharp", "cs"): """\
class A { const string T = "orders"; void F(string T) { Exec($"ALTER PUBLICATION p ADD TABLE {T}"); } }
""",
}


def edits(language: str, text: str) -> list[tuple[str, str]]:
    """What stands in the file and what PostgreSQL is given for it."""
    view = extract.source("x", text, language).view
    assert view is not None
    return [(text[start:end], sent) for start, end, sent in view.edits]


@pytest.mark.parametrize("case", KNOWN)
def test_what_is_given_a_value_once_is_put_in(case: tuple[str, str]) -> None:
    count, text = KNOWN[case]
    source = extract.source("x", text, case[0])
    put_in = [sent for _, sent in edits(case[0], text)]
    assert put_in.count("up1") == count or put_in == ["orders"]
    assert source.view is not None
    assert not source.view.filled


@pytest.mark.parametrize("case", NOT_KNOWN)
def test_what_may_have_another_value_is_not(case: tuple[str, str]) -> None:
    assert "orders" not in [sent for _, sent in edits(case[0], NOT_KNOWN[case])]


def test_the_text_of_a_file_keeps_its_length() -> None:
    text = 'T = "a_rather_long_name_of_a_table"\ncur.execute(f"ALTER PUBLICATION p ADD TABLE {T}, u")\n'
    source = extract.source("x", text, "python")
    assert len(source.text) == len(text)
    assert edits("python", text) == [("{T}", "a_rather_long_name_of_a_table")]
