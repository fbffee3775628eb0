from __future__ import annotations

from pubcheck.explain.document import Value
from pubcheck.explain.rows import Samples


def sampler(fold):
    def sample(f, relation):
        names=[relation.columns[n-1].name for n in f.columns]
        return Samples(true=(tuple(Value(n,"9") for n in names),tuple(Value(n,"6") for n in names)),false=(tuple(Value(n,"1") for n in names),),null=(tuple(Value(n,"NULL") for n in names),))
    return sample
